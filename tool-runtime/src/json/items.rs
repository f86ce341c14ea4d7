//! Serialization of the items of arrays and the entries of objects.

use std::collections::BTreeMap;
use std::mem::replace;

use serde::Serialize;
use serde::ser::{
    Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};
use serde_json::{Error, Result};

use super::JsonWriter;
use super::escape::{push_escaped, push_json};

/// The serializer of the items of an array or the entries of an object.
pub(super) struct ItemsWriter<'a> {
    pub(super) text: &'a mut String,
    pub(super) is_first: bool,
    pub(super) closing: ItemsEnd,
}

/// The end of an array or an object.
pub(super) enum ItemsEnd {
    With(&'static str),
    /// The struct carries raw JSON in the way of `serde_json`; its offset in the output.
    Raw(usize),
}

/// The prefix of the names of structs that `serde_json` uses for `RawValue` and for numbers of arbitrary precision. Each has
/// one field, a string of JSON.
pub(super) const RAW: &str = "$serde_json::private::";

impl ItemsWriter<'_> {
    fn item(&mut self) -> JsonWriter<'_> {
        if !replace(&mut self.is_first, false) {
            self.text.push(',');
        }
        JsonWriter(self.text)
    }

    fn field(&mut self, name: &str) -> JsonWriter<'_> {
        if replace(&mut self.is_first, false) {
            self.text.push('"');
        } else {
            self.text.push_str(",\"");
        }
        push_escaped(self.text, name);
        self.text.push_str("\":");
        JsonWriter(self.text)
    }

    fn close(self) -> Result<()> {
        match self.closing {
            ItemsEnd::With(closing) => JsonWriter(self.text).plain(closing),
            ItemsEnd::Raw(start) => {
                self.text.push('}');
                let fields: BTreeMap<String, String> = serde_json::from_str(&self.text[start..])?;
                self.text.truncate(start);
                fields.into_values().for_each(|json| push_json(self.text, &json));
                Ok(())
            }
        }
    }
}

/// Writes a key. Numbers and booleans are put in quotes, as in a `HashMap<u32, _>`.
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
        $(impl $list for ItemsWriter<'_> {
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
        $(impl $object for ItemsWriter<'_> {
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

impl SerializeMap for ItemsWriter<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<()> {
        let JsonWriter(text) = self.item();
        let start = text.len();
        key.serialize(JsonWriter(text))?;
        end_key(self.text, start)
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
        value.serialize(JsonWriter(self.text))
    }

    fn end(self) -> Result<()> {
        self.close()
    }
}
