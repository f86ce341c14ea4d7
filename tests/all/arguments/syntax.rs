//! Text that is not JSON, or not an object.

use crate::fixtures::{self, call, paths, refused};
use crate::valid_calls;

/// Asserts that the text as a whole is rejected: the path is empty, and the message gives the position.
#[track_caller]
fn no_json(name: &str, text: &str) {
    let errors = refused(name, text);
    let whole = errors.last().expect("an error");
    assert!(whole.path.is_empty(), "{text:?}: {errors:?}");
    assert!(whole.expected.contains("JSON"), "{text:?}: {errors:?}");
    assert!(whole.expected.contains("line"), "{text:?}: says where: {errors:?}");
}

#[test]
fn anything_but_an_object_is_rejected() {
    for text in
        ["[]", r#"[{"a": 1, "b": 2}]"#, "\"text\"", r#""{\"a\": 1, \"b\": 2}""#, "5", "-1.5", "true", "null", " null "]
    {
        let errors = refused("add", text);
        assert_eq!(paths(&errors), [""], "{text}");
        assert_eq!(errors[0].received.as_deref(), Some(text.trim()));
        assert!(errors[0].expected.contains("object"), "{text}: {errors:?}");
    }
    for text in ["[]", "null", "\"\"", "0"] {
        refused("nothing", text);
    }
}

/// Models send an empty string for a tool without arguments.
#[test]
fn empty_text_is_a_call_without_arguments() {
    for text in ["", " ", "\n\t\r ", "{}", " { } "] {
        assert!(call("nothing", text).success, "{text:?}");
        assert!(call("scalars.optional", text).success, "{text:?}");
        assert_eq!(paths(&refused("add", text)), ["a", "b"], "{text:?}");
    }
}

#[test]
fn invalid_json_is_rejected_with_its_position() {
    for text in [
        "{",
        "}",
        "{}}",
        "{]",
        "[",
        "]",
        "{{}}",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":1,,\"b\":2}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1;\"b\":2}",
        "{a:1,\"b\":2}",
        "{'a':1,'b':2}",
        "{\"a\":'1',\"b\":2}",
        "{1:1}",
        "{null:1}",
        "{\"a\":1}{\"b\":2}",
        "{\"a\":1,\"b\":2} extra",
        "{\"a\":1,\"b\":2},",
        "{\"a\":1,\"b\":2}\0",
        "\u{feff}{\"a\":1,\"b\":2}",
        "\0{\"a\":1,\"b\":2}",
        "{\"a\":1,\0\"b\":2}",
        "{\"a\":\x001,\"b\":2}",
        "// no\n{\"a\":1,\"b\":2}",
        "{\"a\":1, // no\n\"b\":2}",
        "{\"a\":1, /* no */ \"b\":2}",
        "# no\n{}",
        "```json\n{\"a\":1,\"b\":2}\n```",
        "{\"a\":undefined,\"b\":2}",
        "{\"a\":True,\"b\":2}",
        "{\"a\":nul,\"b\":2}",
        "{\"a\":1\u{a0},\"b\":2}",
        "{\"a\":1,\u{2028}\"b\":2}",
        "{\"a\":1,\x0b\"b\":2}",
        "{\"a\":tru}",
        "not json",
        "a",
        "'",
        "\"",
        "{\"a\":[1,],\"b\":2}",
        "{\"a\":[1 2],\"b\":2}",
        "{\"a\":{\"x\":1,},\"b\":2}",
        "{\"a\":[}",
        "{\"a\":{]",
        "{\"\\x\":1}",
        "{\"\\u12\":1}",
        "{\"\\ud800\":1}",
        "{\"a\n\":1}",
        "{\"a\u{1}\":1}",
    ] {
        no_json("add", text);
    }
}

/// JSON has rules inside strings, too; the text after an invalid string is still read.
#[test]
fn invalid_json_strings_are_rejected() {
    for wrong in [r"\x41", r"\u12", r"\u{41}", r"\'", r"\ ", "\n", "\t", "\0", "\u{1f}"] {
        let text = format!(r#"{{"text": "a{wrong}b"}}"#);
        let errors = refused("borrowed.text", &text);
        assert!(!errors.is_empty(), "{wrong:?}");
    }
    // Half of a surrogate pair: valid in JSON, but not in a Rust string.
    for lone in [r"\ud800", r"\udc00", r"\ud800\ud800", r"\ud800x", r"\udc00\ud800", r"\uD83E\u0041"] {
        for (name, key) in [("borrowed.text", "text"), ("opaque.echo", "value"), ("later", "text")] {
            let text = format!(r#"{{"{key}": "{lone}", "repeat": 1}}"#);
            let errors = refused(name, &text);
            assert!(paths(&errors).contains(&key), "{name} {text}: {errors:?}");
        }
    }
    assert_eq!(call("returns.borrowed", r#"{"text": "\ud83e\udd80\u0041"}"#).output, "🦀A");
    // The handler receives them; the text for the model is sanitized.
    assert_eq!(call("returns.borrowed", r#"{"text": "a\u0000b\u007f"}"#).output, "ab");
}

/// A model that runs out of tokens truncates its text anywhere.
#[test]
fn text_truncated_anywhere_is_rejected() {
    for valid_calls::ValidCall { name, arguments, .. } in valid_calls::all() {
        let text = arguments.to_string();
        let ends = text.char_indices().map(|(at, _)| at).filter(|at| *at > 0);
        // Testing the long ones at every position adds nothing.
        let step = if text.len() > 400 { 7 } else { 1 };
        for end in ends.step_by(step) {
            let result = call(name, &text[..end]);
            let error = result.error.unwrap_or_else(|| panic!("{name} {}: accepted", &text[..end]));
            assert_eq!(error.kind, tool_runtime::ErrorKind::InvalidArguments, "{name} {}", &text[..end]);
            assert!(
                error.arguments.iter().any(|error| error.expected.contains("JSON")),
                "{name} {}: {error}",
                &text[..end]
            );
        }
    }
}

/// Mistakes before the truncation are still reported.
#[test]
fn mistakes_before_a_truncated_end_are_reported() {
    let errors = refused("later", r#"{"text": 5, "repeat": 1"#);
    assert_eq!(paths(&errors), ["text", ""]);
}

/// Lines and columns are counted as editors do.
#[test]
fn the_position_is_that_of_the_mistake() {
    let errors = refused("add", "{\"a\": 1,\n  \"b\": nope}");
    let message = &errors[0].expected;
    assert!(message.contains("line 2"), "{message}");
    let errors = refused("add", "{\"a\": 1}\n\n  trailing");
    assert!(errors[0].expected.contains("line 3, column 3") && errors[0].expected.contains("trailing"), "{errors:?}");
    let errors = refused("returns.borrowed", "{\"text\": \"ä\" x}");
    assert!(errors[0].expected.contains("near \"x}\""), "{errors:?}");
}

#[test]
fn tool_names_are_matched_exactly() {
    for name in ["", "ad", "Add", "add ", "ADD", "\0", "add\n", "🦀", &"x".repeat(100_000)] {
        let error = call(name, "{}").error.expect("a failure has an error");
        assert_eq!(error.kind, tool_runtime::ErrorKind::UnknownTool, "{name:.20}");
        assert!(error.message.len() < 1000, "{name:.20}");
    }
    assert!(call("ad", "{}").output.contains("`add`"));
    assert!(call("newest", "{}").error.is_some());
    assert!(fixtures::tools().definition("add").is_some());
}
