//! Values of absent arguments, and the variants of enums.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde::forward_to_deserialize_any;

/// Returns the value of an absent argument: `None` for `Option` and for types that deserialize like it.
pub(super) fn absent<'de, T: Deserialize<'de>>() -> Option<T> {
    T::deserialize(AbsentValue { variants: &mut (&[] as &[&str]), look_inside: false }).ok()
}

/// Returns the variants of an enum, or of an optional enum, in the order of declaration.
pub(super) fn variants<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut variants: &'static [&'static str] = &[];
    drop(T::deserialize(AbsentValue { variants: &mut variants, look_inside: true }));
    variants
}

/// The error of a deserializer without a value. It keeps no message, so it costs nothing.
#[derive(Debug)]
struct AbsentError;

impl fmt::Display for AbsentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no value")
    }
}

impl std::error::Error for AbsentError {}

impl serde::de::Error for AbsentError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// A deserializer without a value. The methods that a type calls show what kind of type it is.
struct AbsentValue<'a> {
    variants: &'a mut &'static [&'static str],
    look_inside: bool,
}

impl<'de> Deserializer<'de> for AbsentValue<'_> {
    type Error = AbsentError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, AbsentError> {
        Err(AbsentError)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AbsentError> {
        if self.look_inside {
            // Looks into one `Option` only: a type may consist of an `Option` of itself.
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
    ) -> Result<V::Value, AbsentError> {
        *self.variants = variants;
        Err(AbsentError)
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
    enum Direction {
        Up,
        Down,
    }

    #[test]
    fn only_options_have_a_value_when_absent() {
        assert_eq!(absent::<Option<u8>>(), Some(None));
        assert_eq!(absent::<u8>(), None);
        assert_eq!(absent::<()>(), None);
        assert_eq!(absent::<Direction>(), None);
    }

    #[test]
    fn returns_the_variants_of_an_enum() {
        assert_eq!(variants::<Direction>(), ["up", "down"]);
        assert_eq!(variants::<Option<Direction>>(), ["up", "down"]);
        assert!(variants::<u8>().is_empty());
    }
}
