//! A serializer for compact JSON. It writes what `serde_json` writes, but escapes more characters (`escape.rs`).
//!
//! Results are mostly strings. `serde_json` scans their bytes one by one, this serializer eight at a time. It writes into a
//! `String`, so that the output needs no UTF-8 check.

mod escape;
mod items;
#[cfg(test)]
mod tests;

use std::fmt::{Display, Write as _};

use serde::Serialize;
use serde::ser::{Error as _, Serializer};
use serde_json::{Error, Result, Value};

use self::escape::{first_suspect, push_escaped, push_string};
use self::items::{ItemsEnd, ItemsWriter, RAW};

/// Appends a value to a string.
#[inline]
pub(crate) fn write<T: ?Sized + Serialize>(text: &mut String, value: &T) -> Result<()> {
    value.serialize(JsonWriter(text))
}

/// Returns a value as JSON that is safe to print.
pub(crate) fn text(value: &Value) -> String {
    let mut text = String::new();
    // Writing a `Value` cannot fail.
    write(&mut text, value).unwrap_or_default();
    text
}

/// The serializer of one value.
struct JsonWriter<'a>(&'a mut String);

impl<'a> JsonWriter<'a> {
    fn plain(self, text: &str) -> Result<()> {
        self.0.push_str(text);
        Ok(())
    }

    fn open(self, opening: char, closing: &'static str) -> Result<ItemsWriter<'a>> {
        self.0.push(opening);
        Ok(ItemsWriter { text: self.0, is_first: true, closing: ItemsEnd::With(closing) })
    }

    /// Writes the beginning of a variant with content.
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

impl<'a> Serializer for JsonWriter<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = ItemsWriter<'a>;
    type SerializeTuple = ItemsWriter<'a>;
    type SerializeTupleStruct = ItemsWriter<'a>;
    type SerializeTupleVariant = ItemsWriter<'a>;
    type SerializeMap = ItemsWriter<'a>;
    type SerializeStruct = ItemsWriter<'a>;
    type SerializeStructVariant = ItemsWriter<'a>;

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
        let JsonWriter(text) = self.variant(variant);
        value.serialize(JsonWriter(text))?;
        JsonWriter(text).plain("}")
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<ItemsWriter<'a>> {
        self.open('[', "]")
    }

    fn serialize_tuple(self, _: usize) -> Result<ItemsWriter<'a>> {
        self.open('[', "]")
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<ItemsWriter<'a>> {
        self.open('[', "]")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<ItemsWriter<'a>> {
        self.variant(variant).open('[', "]}")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<ItemsWriter<'a>> {
        self.open('{', "}")
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<ItemsWriter<'a>> {
        let start = self.0.len();
        let object = self.open('{', "}")?;
        Ok(if name.starts_with(RAW) { ItemsWriter { closing: ItemsEnd::Raw(start), ..object } } else { object })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<ItemsWriter<'a>> {
        self.variant(variant).open('{', "}}")
    }
}
