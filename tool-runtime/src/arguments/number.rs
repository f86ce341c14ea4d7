//! Numbers that a [`Value`](serde_json::Value) cannot represent exactly.
//!
//! A `Value` holds 64 bits: a larger integer becomes a float, and a fraction loses digits. A handler's type may keep more.
//! Users approve a `Value`, and journals store one. If its numbers differ from the text, the handler must not decode the
//! text.

use super::location::string_end;

/// Returns `true` if a `Value` writes each number of a valid JSON text exactly as the text does.
pub(crate) fn are_exact(text: &str) -> bool {
    numbers(text).all(is_exact)
}

/// Returns the first integer of a valid JSON text that does not fit into 64 bits.
pub(crate) fn beyond_64_bits(text: &str) -> Option<&str> {
    numbers(text).find(|number| !number.contains(['.', 'e', 'E']) && *number != "-0" && !is_exact(number))
}

fn is_exact(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    let is_short_integer = digits.len() <= 18 && number != "-0" && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_short_integer
        || serde_json::from_str::<serde_json::Number>(number).is_ok_and(|known| known.to_string() == number)
}

/// Returns the numbers of a text as they are written.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            match bytes.get(at)? {
                b'"' => at = string_end(bytes, at),
                b'-' | b'0'..=b'9' => {
                    let belongs = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                    let start = at;
                    at += bytes[start..].iter().take_while(belongs).count();
                    return text.get(start..at);
                }
                _ => at += 1,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::testing::properties;

    #[test]
    fn numbers_that_a_value_changes_are_found() {
        for (number, exact) in [
            ("0", true),
            ("-7", true),
            ("18446744073709551615", true),
            ("-9223372036854775808", true),
            ("18446744073709551616", false),
            ("-9223372036854775809", false),
            ("340282366920938463463374607431768211455", false),
            ("-0", false),
            ("0.1", true),
            ("0.10", false),
            ("1e3", false),
            ("0.1000000000000000055511151231257827", false),
        ] {
            for text in [number.to_owned(), format!(r#"{{"18446744073709551616": ["\"1e3", {number} ]}}"#)] {
                assert_eq!(are_exact(&text), exact, "{text}");
            }
        }
        assert_eq!(beyond_64_bits("[0.10, -0, 1e99, 7, 18446744073709551616]"), Some("18446744073709551616"));
        assert_eq!(beyond_64_bits("[0.10, -0, 1e99, 18446744073709551615]"), None);
    }

    proptest! {
        #![proptest_config(properties(500))]

        /// A number is exact if and only if a `Value` writes it as the text does.
        #[test]
        fn exact_is_what_a_value_writes(number in "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,20})?(e-?[0-9]{1,2})?") {
            let value: Value = serde_json::from_str(&number).unwrap();
            let written = value.to_string();
            prop_assert_eq!(are_exact(&number), written == number);
            prop_assert!(are_exact(&written), "{}", written);
        }
    }
}
