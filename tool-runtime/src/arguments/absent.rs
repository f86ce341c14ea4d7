//! What a type makes of a value that is not there.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde::forward_to_deserialize_any;

/// The value of an argument that was not sent: `None` for `Option` and for all that decodes like it.
pub(super) fn absent<'de, T: Deserialize<'de>>() -> Option<T> {
    T::deserialize(Absent { variants: &mut (&[] as &[&str]), look_inside: false }).ok()
}

/// The variants of an enum, or of an optional enum, in the order of declaration.
pub(super) fn variants<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut variants: &'static [&'static str] = &[];
    drop(T::deserialize(Absent { variants: &mut variants, look_inside: true }));
    variants
}

/// There is no value. Says nothing, so that it costs nothing.
#[derive(Debug)]
struct Nothing;

impl fmt::Display for Nothing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no value")
    }
}

impl std::error::Error for Nothing {}

impl serde::de::Error for Nothing {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// A deserializer that has nothing. Types ask it for what they need, which tells what they are.
struct Absent<'a> {
    variants: &'a mut &'static [&'static str],
    look_inside: bool,
}

impl<'de> Deserializer<'de> for Absent<'_> {
    type Error = Nothing;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Nothing> {
        Err(Nothing)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Nothing> {
        if self.look_inside {
            // Once only: a type may hold nothing but an `Option` of itself.
            visitor.visit_some(Self { look_inside: false, ..self })
        } else {
            visitor.visit_none()
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Nothing> {
        *self.variants = variants;
        Err(Nothing)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Order {
        Up,
        Down,
    }

    #[test]
    fn only_options_are_there_when_nothing_is() {
        assert_eq!(absent::<Option<u8>>(), Some(None));
        assert_eq!(absent::<u8>(), None);
        assert_eq!(absent::<()>(), None);
        assert_eq!(absent::<Order>(), None);
    }

    #[test]
    fn an_enum_tells_its_variants() {
        assert_eq!(variants::<Order>(), ["up", "down"]);
        assert_eq!(variants::<Option<Order>>(), ["up", "down"]);
        assert!(variants::<u8>().is_empty());
    }
}
