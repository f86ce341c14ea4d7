//! What lists and objects consist of.

use std::collections::BTreeMap;
use std::mem::replace;

use serde::Serialize;
use serde::ser::{
    Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};
use serde_json::{Error, Result};

use super::Writer;
use super::escape::{push_escaped, push_json};

/// The items of a list or the entries of an object.
pub(super) struct Items<'a> {
    pub(super) text: &'a mut String,
    pub(super) is_first: bool,
    pub(super) closing: Closing,
}

/// How a list or an object ends.
pub(super) enum Closing {
    With(&'static str),
    /// It is how `serde_json` hands over what is JSON already, and began here.
    Raw(usize),
}

/// How the names of structs begin that only `serde_json` itself has, for its `RawValue` and its numbers of any length:
/// each has one field, with JSON in a string.
pub(super) const RAW: &str = "$serde_json::private::";

impl Items<'_> {
    fn item(&mut self) -> Writer<'_> {
        if !replace(&mut self.is_first, false) {
            self.text.push(',');
        }
        Writer(self.text)
    }

    fn field(&mut self, name: &str) -> Writer<'_> {
        if replace(&mut self.is_first, false) {
            self.text.push('"');
        } else {
            self.text.push_str(",\"");
        }
        push_escaped(self.text, name);
        self.text.push_str("\":");
        Writer(self.text)
    }

    fn close(self) -> Result<()> {
        match self.closing {
            Closing::With(closing) => Writer(self.text).plain(closing),
            Closing::Raw(start) => {
                self.text.push('}');
                let fields: BTreeMap<String, String> = serde_json::from_str(&self.text[start..])?;
                self.text.truncate(start);
                fields.into_values().for_each(|json| push_json(self.text, &json));
                Ok(())
            }
        }
    }
}

/// Numbers and the like are keys in quotes, as in a `HashMap<u32, _>`.
fn end_key(text: &mut String, start: usize) -> Result<()> {
    match text.as_bytes().get(start) {
        Some(b'"') => {}
        Some(b'-' | b'0'..=b'9' | b't' | b'f') => {
            text.insert(start, '"');
            text.push('"');
        }
        _ => return Err(Error::custom("key must be a string")),
    }
    text.push(':');
    Ok(())
}

macro_rules! lists {
    ($($list:ident::$method:ident)*) => {
        $(impl $list for Items<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
                value.serialize(self.item())
            }

            fn end(self) -> Result<()> {
                self.close()
            }
        })*
    };
}

lists! {
    SerializeSeq::serialize_element SerializeTuple::serialize_element
    SerializeTupleStruct::serialize_field SerializeTupleVariant::serialize_field
}

macro_rules! structs {
    ($($object:ident)*) => {
        $(impl $object for Items<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: ?Sized + Serialize>(&mut self, name: &'static str, value: &T) -> Result<()> {
                value.serialize(self.field(name))
            }

            fn end(self) -> Result<()> {
                self.close()
            }
        })*
    };
}

structs! { SerializeStruct SerializeStructVariant }

impl SerializeMap for Items<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<()> {
        let Writer(text) = self.item();
        let start = text.len();
        key.serialize(Writer(text))?;
        end_key(self.text, start)
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
        value.serialize(Writer(self.text))
    }

    fn end(self) -> Result<()> {
        self.close()
    }
}
