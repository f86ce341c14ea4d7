//! Numbers at the limits of JSON and of Rust.

use crate::fixtures::{call, paths, refused};

/// The text of a call with one number in place of `?`.
fn with(text: &str, number: &str) -> String {
    text.replace('?', number)
}

const UNSIGNED: &str = r#"{"u_8":1,"u_16":1,"u_32":1,"u_64":1,"u_128":?,"u_size":1}"#;
const SIGNED: &str = r#"{"i_8":1,"i_16":1,"i_32":1,"i_64":1,"i_128":?,"i_size":1}"#;

#[test]
fn integers_of_all_widths_accept_their_limits() {
    let result = call("scalars.unsigned", &with(UNSIGNED, &u128::MAX.to_string()));
    assert_eq!(result.output, format!("1 1 1 1 {} 1", u128::MAX));
    let result = call("scalars.signed", &with(SIGNED, &i128::MIN.to_string()));
    assert_eq!(result.output, format!("1 1 1 1 {} 1", i128::MIN));
    let result = call("add", &format!(r#"{{"a": {}, "b": 0}}"#, i64::MIN));
    assert_eq!(result.output, i64::MIN.to_string());
}

#[test]
fn an_integer_that_does_not_fit_is_rejected() {
    for (name, text, path) in [
        ("scalars.unsigned", r#"{"u_8":256,"u_16":1,"u_32":1,"u_64":1,"u_128":1,"u_size":1}"#, "u_8"),
        ("scalars.unsigned", r#"{"u_8":1,"u_16":-1,"u_32":1,"u_64":1,"u_128":1,"u_size":1}"#, "u_16"),
        ("scalars.unsigned", r#"{"u_8":1,"u_16":1,"u_32":4294967296,"u_64":1,"u_128":1,"u_size":1}"#, "u_32"),
        ("scalars.unsigned", r#"{"u_8":1,"u_16":1,"u_32":1,"u_64":18446744073709551616,"u_128":1,"u_size":1}"#, "u_64"),
        ("scalars.unsigned", r#"{"u_8":1,"u_16":1,"u_32":1,"u_64":1,"u_128":-1,"u_size":1}"#, "u_128"),
        (
            "scalars.unsigned",
            r#"{"u_8":1,"u_16":1,"u_32":1,"u_64":1,"u_128":340282366920938463463374607431768211456,"u_size":1}"#,
            "u_128",
        ),
        ("scalars.signed", r#"{"i_8":-129,"i_16":1,"i_32":1,"i_64":1,"i_128":1,"i_size":1}"#, "i_8"),
        ("scalars.signed", r#"{"i_8":1,"i_16":1,"i_32":1,"i_64":9223372036854775808,"i_128":1,"i_size":1}"#, "i_64"),
        ("scalars.nonzero", r#"{"small":0,"signed":1,"large":1}"#, "small"),
        ("scalars.nonzero", r#"{"small":1,"signed":0,"large":1}"#, "signed"),
        ("add", r#"{"a":123456789012345678901234567890123456789012345678901234567890,"b":1}"#, "a"),
        ("add", r#"{"a":1.5,"b":1}"#, "a"),
        ("add", r#"{"a":1e400,"b":1}"#, "a"),
        ("add", r#"{"a":-1e400,"b":1}"#, "a"),
    ] {
        let errors = refused(name, text);
        assert_eq!(paths(&errors), [path], "{name} {text}: {errors:?}");
        assert!(errors[0].received.is_some(), "{errors:?}");
    }
}

#[test]
fn a_number_beyond_f64_is_rejected() {
    for number in ["1e400", "-1e400", "1e999999999999", "123456789e1000"] {
        let errors = refused("scalars.floats", &with(r#"{"single": 1, "double": ?}"#, number));
        assert_eq!(paths(&errors), ["double"], "{number}: {errors:?}");
        let errors = refused("opaque.echo", &with(r#"{"value": [?]}"#, number));
        assert!(errors[0].path.starts_with("value"), "{number}: {errors:?}");
    }
    // So small that it rounds to zero.
    let result = call("scalars.floats", r#"{"single": 1e-400, "double": 1e-999}"#);
    assert_eq!(result.output, "0.0 0.0");
}

/// A number beyond `f32` would reach the handler as infinity.
#[test]
fn a_number_beyond_f32_is_rejected() {
    let errors = refused("scalars.floats", r#"{"single": 1e39, "double": 1}"#);
    assert_eq!(paths(&errors), ["single"]);
}

#[test]
fn floats_keep_their_value() {
    for number in ["0.1", "-0.0", "1e308", "5e-324", "123456789.123456789", "0.30000000000000004"] {
        let result = call("scalars.floats", &with(r#"{"single": 1, "double": ?}"#, number));
        let value: f64 = number.parse().unwrap();
        assert_eq!(result.output, format!("1.0 {value:?}"));
    }
}

/// `-0` is an integer to JSON Schema and a float to `serde_json`: either result is fine, a panic is not.
#[test]
fn minus_zero_gets_a_result() {
    let result = call("add", r#"{"a": -0, "b": 1}"#);
    if result.success {
        assert_eq!(result.output, "1");
    } else {
        assert_eq!(paths(&refused("add", r#"{"a": -0, "b": 1}"#)), ["a"]);
    }
    assert_eq!(call("scalars.floats", r#"{"single": -0, "double": -0}"#).output, "-0.0 -0.0");
}

#[test]
fn malformed_numbers_are_not_json() {
    for number in
        ["NaN", "Infinity", "-Infinity", "+1", "01", "1.", ".5", "1e", "0x10", "1_000", "--1", "1,5", "١", "-"]
    {
        let errors = refused("add", &with(r#"{"a": ?, "b": 1}"#, number));
        assert!(
            errors.iter().any(|error| error.path.is_empty() && error.expected.contains("JSON")),
            "{number}: {errors:?}"
        );
    }
}
