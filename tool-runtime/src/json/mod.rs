//! Compact JSON: what `serde_json` writes, straight into a text, with more characters escaped (`escape.rs`).
//!
//! Results are mostly strings, whose bytes `serde_json` looks at one by one; here that is done by eights. And what is
//! written is a text by its type, so that nobody has to check that it is UTF-8.

mod escape;
mod items;
#[cfg(test)]
mod tests;

use std::fmt::{Display, Write as _};

use serde::Serialize;
use serde::ser::{Error as _, Serializer};
use serde_json::{Error, Result, Value};

use self::escape::{first_suspect, push_escaped, push_string};
use self::items::{Closing, Items, RAW};

/// Writes a value behind a text.
#[inline]
pub(crate) fn write<T: ?Sized + Serialize>(text: &mut String, value: &T) -> Result<()> {
    value.serialize(Writer(text))
}

/// Returns a value as JSON that is safe to print.
pub(crate) fn text(value: &Value) -> String {
    let mut text = String::new();
    // Every value can be written.
    write(&mut text, value).unwrap_or_default();
    text
}

/// Writes one value.
struct Writer<'a>(&'a mut String);

impl<'a> Writer<'a> {
    fn plain(self, text: &str) -> Result<()> {
        self.0.push_str(text);
        Ok(())
    }

    fn open(self, opening: char, closing: &'static str) -> Result<Items<'a>> {
        self.0.push(opening);
        Ok(Items { text: self.0, is_first: true, closing: Closing::With(closing) })
    }

    /// What stands before the content of an enum's variant.
    fn variant(self, name: &str) -> Self {
        self.0.push('{');
        push_string(self.0, name);
        self.0.push(':');
        self
    }
}

macro_rules! integers {
    ($($method:ident($ty:ty))*) => {
        $(fn $method(self, value: $ty) -> Result<()> {
            self.plain(itoa::Buffer::new().format(value))
        })*
    };
}

macro_rules! floats {
    ($($method:ident($ty:ty))*) => {
        $(fn $method(self, value: $ty) -> Result<()> {
            match value.is_finite() {
                true => self.plain(zmij::Buffer::new().format_finite(value)),
                false => self.plain("null"),
            }
        })*
    };
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Items<'a>;
    type SerializeStruct = Items<'a>;
    type SerializeStructVariant = Items<'a>;

    integers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
    }

    floats! { serialize_f32(f32) serialize_f64(f64) }

    fn serialize_bool(self, value: bool) -> Result<()> {
        self.plain(if value { "true" } else { "false" })
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<()> {
        push_string(self.0, value);
        Ok(())
    }

    fn collect_str<T: ?Sized + Display>(self, value: &T) -> Result<()> {
        self.0.push('"');
        let start = self.0.len();
        write!(self.0, "{value}").map_err(Error::custom)?;
        if first_suspect(&self.0.as_bytes()[start..]).is_some() {
            let shown = self.0.split_off(start);
            push_escaped(self.0, &shown);
        }
        self.0.push('"');
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<()> {
        self.collect_seq(bytes)
    }

    fn serialize_none(self) -> Result<()> {
        self.plain("null")
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        self.plain("null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.plain("null")
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<()> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        let Writer(text) = self.variant(variant);
        value.serialize(Writer(text))?;
        Writer(text).plain("}")
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a>> {
        self.open('[', "]")
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'a>> {
        self.open('[', "]")
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'a>> {
        self.open('[', "]")
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Items<'a>> {
        self.variant(variant).open('[', "]}")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Items<'a>> {
        self.open('{', "}")
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Items<'a>> {
        let start = self.0.len();
        let object = self.open('{', "}")?;
        Ok(if name.starts_with(RAW) { Items { closing: Closing::Raw(start), ..object } } else { object })
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Items<'a>> {
        self.variant(variant).open('{', "}}")
    }
}
