//! A fast path for integers, the most frequent arguments besides strings.
//!
//! It handles integers of at most eighteen digits that the type accepts. Everything else falls back to `serde_json`,
//! which also writes the errors.

use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};
use serde::forward_to_deserialize_any;

/// The number of digits up to which every integer fits into 64 bits.
const DIGITS: usize = 18;

/// Returns the value and its length if the bytes begin with an integer that the type accepts.
#[inline]
pub(super) fn integer<A: DeserializeOwned>(bytes: &[u8]) -> Option<(A, usize)> {
    let (&first, rest) = bytes.split_first()?;
    let (negative, digits) = match first {
        b'0'..=b'9' => (false, bytes),
        b'-' => (true, rest),
        _ => return None,
    };
    let mut value = 0_u64;
    let mut length = 0;
    while let Some(digit) = digits.get(length).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        if length == DIGITS {
            return None;
        }
        value = value * 10 + u64::from(digit);
        length += 1;
    }
    // Leading zeros are invalid JSON, and `-0` is a float.
    let is_plain = match digits.first() {
        Some(b'0') => length == 1 && !negative,
        _ => length > 0,
    };
    let is_over = matches!(digits.get(length), None | Some(b',' | b'}' | b']' | b' ' | b'\n' | b'\t' | b'\r'));
    if !is_plain || !is_over {
        return None;
    }
    let value = A::deserialize(Integer { value, negative }).ok()?;
    Some((value, length + usize::from(negative)))
}

/// A deserializer for one integer, with the calls that `serde_json` makes.
struct Integer {
    value: u64,
    negative: bool,
}

/// The error for an integer that the type refuses. `serde_json` reports the reason on the fallback.
#[derive(Debug)]
struct NotTaken;

impl std::fmt::Display for NotTaken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not of this type")
    }
}

impl std::error::Error for NotTaken {}

impl Error for NotTaken {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Self
    }

    // The message would be dropped.
    fn invalid_type(_: serde::de::Unexpected<'_>, _: &dyn serde::de::Expected) -> Self {
        Self
    }

    fn invalid_value(_: serde::de::Unexpected<'_>, _: &dyn serde::de::Expected) -> Self {
        Self
    }
}

impl<'de> Deserializer<'de> for Integer {
    type Error = NotTaken;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotTaken> {
        match self.negative {
            true => visitor.visit_i64(-self.value.cast_signed()),
            false => visitor.visit_u64(self.value),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotTaken> {
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &str, visitor: V) -> Result<V::Value, NotTaken> {
        // Some names are requests to `serde_json` itself, such as for the raw text.
        if name.starts_with('$') {
            return Err(NotTaken);
        }
        visitor.visit_newtype_struct(self)
    }

    /// Falls back: only `serde_json` knows the form that these types expect.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, NotTaken> {
        Err(NotTaken)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, NotTaken> {
        Err(NotTaken)
    }

    fn deserialize_str<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NotTaken> {
        Err(NotTaken)
    }

    fn deserialize_string<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NotTaken> {
        Err(NotTaken)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple tuple_struct
        map identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use proptest::prelude::*;
    use serde::Deserialize;
    use serde_json::Value;

    use super::*;
    use crate::testing::properties;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Newtype(u8);

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(untagged)]
    enum Either {
        Small(i8),
        Large(Option<i64>),
        Fraction(f32),
    }

    /// Asserts that `serde_json` reads the same value from the same bytes.
    fn agrees<A: DeserializeOwned + PartialEq + Debug>(text: &str) {
        let Some((value, length)) = integer::<A>(text.as_bytes()) else { return };
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<A>();
        let same =
            values.next().unwrap_or_else(|| panic!("{text:?}")).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!((value, length), (same, values.byte_offset()), "{text:?}");
    }

    fn agrees_for_all_types(text: &str) {
        agrees::<i8>(text);
        agrees::<u8>(text);
        agrees::<i64>(text);
        agrees::<u64>(text);
        agrees::<i128>(text);
        agrees::<u128>(text);
        agrees::<f32>(text);
        agrees::<f64>(text);
        agrees::<usize>(text);
        agrees::<Option<u32>>(text);
        agrees::<Option<Option<i16>>>(text);
        agrees::<Newtype>(text);
        agrees::<Either>(text);
        agrees::<Value>(text);
        agrees::<serde_json::Number>(text);
        agrees::<std::num::NonZeroU32>(text);
        agrees::<bool>(text);
        agrees::<String>(text);
        agrees::<char>(text);
        agrees::<Vec<u8>>(text);
        agrees::<()>(text);
    }

    #[test]
    fn reads_plain_integers() {
        assert_eq!(integer::<i64>(b"17, "), Some((17, 2)));
        assert_eq!(integer::<i64>(b"-5}"), Some((-5, 2)));
        assert_eq!(integer::<Option<u8>>(b"255"), Some((Some(255), 3)));
        assert_eq!(integer::<f64>(b"3]"), Some((3.0, 1)));
        assert_eq!(integer::<u64>(b"999999999999999999"), Some((999_999_999_999_999_999, 18)));
        for left in ["256", "-1"] {
            assert_eq!(integer::<u8>(left.as_bytes()), None, "{left}");
        }
        for left in ["", "-", "-0", "01", "1.0", "1e3", "1x", "9999999999999999999", "\"1\"", "null", "+1"] {
            assert_eq!(integer::<i64>(left.as_bytes()), None, "{left}");
        }
    }

    proptest! {
        #![proptest_config(properties(2_000))]

        #[test]
        fn reads_what_serde_json_reads(text in "-?[0-9]{0,20}[.eE,\\]} x\n-]{0,2}[0-9]{0,2}") {
            agrees_for_all_types(&text);
        }

        #[test]
        fn reads_every_integer_as_serde_json_does(number in any::<i64>(), rest in "[,}\\] ]?") {
            agrees_for_all_types(&format!("{number}{rest}"));
            agrees_for_all_types(&format!("{}{rest}", number % 1_000));
        }
    }
}
