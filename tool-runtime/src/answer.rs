//! From what a handler gives back to what the model reads.

use std::fmt::Display;

use serde::Serialize;
use serde::ser::Serializer;

use crate::ErrorKind;

/// The text of a success, or what went wrong.
pub type Answer = Result<String, Box<Failure>>;

/// What went wrong, before it is put into words for the model.
#[derive(Debug)]
pub struct Failure {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { kind, message: message.into() })
    }
}

/// What a handler gave back. `Result`s are told apart by type, not by name, through the inherent method, which goes
/// before the trait's; the bounds stand on the methods, so that a missing one is named.
pub struct Reply<T>(pub T);

impl<T, E> Reply<Result<T, E>> {
    /// The handler's own success or failure.
    #[inline]
    pub fn answer(self) -> Answer
    where
        T: Serialize,
        E: Display,
    {
        match self.0 {
            Ok(value) => text(&value),
            // The alternate form: errors that carry a chain of causes show all of it.
            Err(error) => Err(Failure::new(ErrorKind::Failed, format!("{error:#}"))),
        }
    }
}

/// A handler that gives back a plain value always succeeds.
pub trait PlainReply {
    /// The value.
    type Value;

    /// The value as the model reads it.
    fn answer(self) -> Answer
    where
        Self::Value: Serialize;
}

impl<T> PlainReply for Reply<T> {
    type Value = T;

    #[inline]
    fn answer(self) -> Answer
    where
        T: Serialize,
    {
        text(&self.0)
    }
}

/// A string as it is, `()` as `ok`, anything else as compact JSON.
#[inline]
fn text<T: Serialize>(value: &T) -> Answer {
    let mut json = serde_json::Serializer::new(Vec::with_capacity(128));
    let mut plain = None;
    let written = value.serialize(Text { json: &mut json, plain: &mut plain });
    finish_text(written, plain, json.into_inner())
}

fn finish_text(written: serde_json::Result<()>, plain: Option<String>, json: Vec<u8>) -> Answer {
    let unwritable = |error: &dyn Display| {
        Failure::new(ErrorKind::Failed, format!("the tool ran, but its result cannot be written as JSON: {error}"))
    };
    written.map_err(|error| unwritable(&error))?;
    match plain {
        Some(text) => Ok(text),
        None => String::from_utf8(json).map_err(|error| unwritable(&error)),
    }
}

/// Serialises the outermost value: strings and `()` plainly, the rest with `serde_json`.
struct Text<'a> {
    json: &'a mut serde_json::Serializer<Vec<u8>>,
    plain: &'a mut Option<String>,
}

type Json<'a> = &'a mut serde_json::Serializer<Vec<u8>>;

macro_rules! as_json {
    ($($method:ident($($argument:ident: $ty:ty),*) -> $output:ty;)*) => {
        $(#[inline]
        fn $method(self, $($argument: $ty),*) -> Result<$output, Self::Error> {
            self.json.$method($($argument),*)
        })*
    };
}

impl<'a> Serializer for Text<'a> {
    type Ok = ();
    type Error = serde_json::Error;
    type SerializeSeq = <Json<'a> as Serializer>::SerializeSeq;
    type SerializeTuple = <Json<'a> as Serializer>::SerializeTuple;
    type SerializeTupleStruct = <Json<'a> as Serializer>::SerializeTupleStruct;
    type SerializeTupleVariant = <Json<'a> as Serializer>::SerializeTupleVariant;
    type SerializeMap = <Json<'a> as Serializer>::SerializeMap;
    type SerializeStruct = <Json<'a> as Serializer>::SerializeStruct;
    type SerializeStructVariant = <Json<'a> as Serializer>::SerializeStructVariant;

    #[inline]
    fn serialize_str(self, text: &str) -> Result<(), Self::Error> {
        *self.plain = Some(text.to_owned());
        Ok(())
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), Self::Error> {
        self.serialize_str("ok")
    }

    #[inline]
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Self::Error> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_char(self, value: char) -> Result<(), Self::Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    as_json! {
        serialize_bool(value: bool) -> ();
        serialize_i8(value: i8) -> ();
        serialize_i16(value: i16) -> ();
        serialize_i32(value: i32) -> ();
        serialize_i64(value: i64) -> ();
        serialize_i128(value: i128) -> ();
        serialize_u8(value: u8) -> ();
        serialize_u16(value: u16) -> ();
        serialize_u32(value: u32) -> ();
        serialize_u64(value: u64) -> ();
        serialize_u128(value: u128) -> ();
        serialize_f32(value: f32) -> ();
        serialize_f64(value: f64) -> ();
        serialize_bytes(value: &[u8]) -> ();
        serialize_none() -> ();
        serialize_unit_struct(name: &'static str) -> ();
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str) -> ();
        serialize_seq(len: Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(len: usize) -> Self::SerializeTuple;
        serialize_tuple_struct(name: &'static str, len: usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, len: usize) -> Self::SerializeTupleVariant;
        serialize_map(len: Option<usize>) -> Self::SerializeMap;
        serialize_struct(name: &'static str, len: usize) -> Self::SerializeStruct;
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, len: usize) -> Self::SerializeStructVariant;
    }

    #[inline]
    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, name: &'static str, value: &T) -> Result<(), Self::Error> {
        self.json.serialize_newtype_struct(name, value)
    }

    #[inline]
    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Self::Error> {
        self.json.serialize_newtype_variant(name, index, variant, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_as_it_is_unit_as_ok_the_rest_as_json() {
        assert_eq!(Reply("a \"b\"").answer().unwrap(), "a \"b\"");
        assert_eq!(Reply(()).answer().unwrap(), "ok");
        assert_eq!(Reply(Some(String::from("x"))).answer().unwrap(), "x");
        assert_eq!(Reply(None::<String>).answer().unwrap(), "null");
        assert_eq!(Reply(vec![1, 2]).answer().unwrap(), "[1,2]");
        assert_eq!(Reply(Ok::<_, String>(7)).answer().unwrap(), "7");
    }

    #[test]
    fn an_error_is_a_failure_whatever_else_it_is() {
        let failure = Reply(Err::<(), _>("boom")).answer().unwrap_err();
        assert_eq!((failure.kind, failure.message.as_str()), (ErrorKind::Failed, "boom"));
        let odd = std::collections::HashMap::from([((1, 2), 3)]);
        assert!(Reply(odd).answer().unwrap_err().message.contains("cannot be written as JSON"));
    }
}
