//! Deeply nested, long and numerous arguments.

use tool_runtime::ErrorKind;

use crate::fixtures::{self, call, call_on, paths, refused};

const DEEP: usize = 100_000;

/// Runs on a thread with a small stack, where recursion along the text would overflow and abort the process.
fn with_little_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(768 * 1024)
        .spawn(run)
        .expect("a thread")
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

fn deep_values() -> [(&'static str, String); 6] {
    [
        ("arrays", format!("{}{}", "[".repeat(DEEP), "]".repeat(DEEP))),
        ("objects", format!("{}1{}", "{\"k\":".repeat(DEEP), "}".repeat(DEEP))),
        ("both", format!("{}1{}", "[{\"children\":".repeat(DEEP / 2), "}]".repeat(DEEP / 2))),
        ("open arrays", "[".repeat(DEEP)),
        ("open objects", "{\"k\":".repeat(DEEP)),
        ("closed too often", "]".repeat(DEEP)),
    ]
}

#[test]
fn deep_nesting_is_rejected_without_recursion() {
    with_little_stack(|| {
        for (what, value) in deep_values() {
            for (name, text) in [
                ("add", format!(r#"{{"a": {value}, "b": 1}}"#)),
                ("add", format!(r#"{{"a": 1, "b": 2, "c": {value}}}"#)),
                ("opaque.echo", format!(r#"{{"value": {value}}}"#)),
                ("opaque.unknown", format!(r#"{{"list": {value}}}"#)),
                ("opaque.inside", format!(r#"{{"map": {{"k": {value}}}}}"#)),
                ("recursive.tree", format!(r#"{{"tree": {{"name": "a", "children": {value}}}, "forest": []}}"#)),
                ("recursive.lists", format!(r#"{{"lists": {value}, "more": []}}"#)),
                ("enums.data", format!(r#"{{"untagged": {value}}}"#)),
                ("explicit.nested", format!(r#"{{"anything": {value}}}"#)),
                ("structs.bounded", format!(r#"{{"bounded": {value}, "list": []}}"#)),
                ("wide.echo", format!(r#"{{"wide": {{"anything": {value}}}}}"#)),
                ("add", value.clone()),
            ] {
                let result = call(name, &text);
                let error = result.error.unwrap_or_else(|| panic!("{name} accepts {what}"));
                assert_eq!(error.kind, ErrorKind::InvalidArguments, "{name} {what}");
                assert!(result.output.len() < 10_000, "{name} {what}: {} bytes", result.output.len());
            }
        }
    });
}

#[test]
fn deep_nesting_in_ignored_values_is_skipped() {
    with_little_stack(|| {
        let tools = fixtures::builder().allow_unknown_arguments().build().unwrap_or_else(|error| panic!("{error}"));
        let (_, value) = &deep_values()[0];
        let result = call_on(&tools, "add", &format!(r#"{{"a": 1, "x": {value}, "b": 2}}"#));
        assert_eq!((result.success, result.output.as_str()), (true, "3"));
    });
}

/// Everything works up to the depth that `serde_json` reads; the stack suffices for that.
#[test]
fn a_hundred_levels_are_accepted() {
    with_little_stack(|| {
        let value = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(call("opaque.echo", &format!(r#"{{"value": {value}}}"#)).output, format!("[{value}]"));
        let tree = format!("{}{{\"name\":\"x\"}}{}", r#"{"name":"a","children":["#.repeat(50), "]}".repeat(50));
        let result = call("recursive.tree", &format!(r#"{{"tree": {tree}, "forest": []}}"#));
        assert_eq!(result.output, "51", "{tree}");
        let errors = refused("recursive.tree", &format!(r#"{{"tree": {}, "forest": []}}"#, tree.replace("\"x\"", "1")));
        // The text of a path is cut.
        assert_eq!(paths(&errors), [format!("tree{}.chi…", ".children[0]".repeat(16))]);
    });
}

#[test]
fn text_over_the_limit_is_rejected_unread() {
    let tools = fixtures::builder().max_argument_bytes(20).build().unwrap_or_else(|error| panic!("{error}"));
    let short = r#"{"a": 1, "b": 2}    "#;
    assert_eq!(short.len(), 20);
    assert_eq!(call_on(&tools, "add", short).output, "3");
    let result = call_on(&tools, "add", &format!("{short} "));
    let error = result.error.expect("a failure has an error");
    assert_eq!(error.kind, ErrorKind::InvalidArguments);
    for word in ["`add`", "21", "20"] {
        assert!(error.message.contains(word), "{error}");
    }
    assert_eq!(result.output, error.message);
    // Not even the syntax is checked.
    assert_eq!(call_on(&tools, "add", &"[".repeat(21)).error.expect("a failure").message, error.message);
    assert_eq!(call_on(&tools, "none", &"[".repeat(21)).error.expect("a failure").kind, ErrorKind::UnknownTool);
}

#[test]
fn a_limit_applies_by_default() {
    let text = format!(r#"{{"text": "{}"}}"#, "x".repeat(16_000_000));
    assert_eq!(call("borrowed.text", &text).error.expect("too long").kind, ErrorKind::InvalidArguments);
    let text = format!(r#"{{"text": "{}"}}"#, "x".repeat(1_000_000));
    assert_eq!(call("borrowed.text", &text).output, "1000000");
}

/// Makes a call with very long text. Quadratic work would take minutes here.
#[track_caller]
fn is_read_in_one_go(name: &str, text: impl Fn(usize) -> String) {
    let text = text(200_000);
    assert!(!call(name, &text).output.is_empty(), "{name}: {} bytes", text.len());
}

fn entries(count: usize, entry: impl Fn(usize) -> String) -> String {
    (0..count).map(entry).collect::<Vec<_>>().join(",")
}

#[test]
fn a_large_map_is_read_in_reasonable_time() {
    is_read_in_one_go("opaque.echo", |count| {
        format!(r#"{{"value": {{{}}}}}"#, entries(count, |at| format!(r#""key{at}":{at}"#)))
    });
}

#[test]
fn a_large_map_with_escapes_is_read_in_reasonable_time() {
    is_read_in_one_go("opaque.echo", |count| {
        format!(r#"{{"value": {{{}}}}}"#, entries(count / 8, |at| format!(r#""\u006bey{at}":{at}"#)))
    });
}

#[test]
fn a_large_list_is_checked_in_reasonable_time() {
    is_read_in_one_go("explicit.nested", |count| {
        format!(r#"{{"ports": [1], "point": {{}}, "not_text": [{}]}}"#, entries(count, |at| at.to_string()))
    });
    is_read_in_one_go("rules.lengths", |count| {
        format!(r#"{{"text": "abc", "map": {{}}, "list": [{}]}}"#, entries(count, |_| "1".to_owned()))
    });
}

#[test]
fn many_mistakes_are_found_in_reasonable_time() {
    is_read_in_one_go("borrowed.slice", |count| {
        format!(r#"{{"numbers": [{}]}}"#, entries(count, |_| "null".to_owned()))
    });
    is_read_in_one_go("nothing", |count| format!("{{{}}}", entries(count, |at| format!(r#""key{at}":1"#))));
    is_read_in_one_go("add", |count| format!("{{{}}}", entries(count, |_| r#""a":"x""#.to_owned())));
}

/// A model cannot use a thousand lines, and pays for each.
#[test]
fn a_message_stays_short_however_many_mistakes_there_are() {
    for (name, text) in [
        ("nothing", format!("{{{}}}", entries(10_000, |at| format!(r#""key{at}":1"#)))),
        ("add", format!("{{{}}}", entries(10_000, |_| r#""a":1"#.to_owned()))),
        ("borrowed.slice", format!(r#"{{"numbers": [{}]}}"#, entries(10_000, |_| "null".to_owned()))),
    ] {
        let result = call(name, &text);
        assert!(!result.success);
        assert!(result.output.len() < 20_000, "{name}: {} bytes", result.output.len());
    }
}
