//! Arguments under the names of a selection.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool_model::Manifest;

use crate::confirm::{self, Decision, PolicyVerdict};
use crate::journal::{EntryQuery, MemoryJournal};
use crate::{
    Builder, Dispatcher, Effect, NameCase, Policy, RuntimeTool, Selection, ToolCall, ToolResult, tool, tool_class,
};

struct Editor;

#[tool_class(crate = crate, manual, prefix = "editor")]
impl Editor {
    /// Replace a text.
    #[tool(sensitive, preview = "would_edit")]
    fn edit_file(
        &self,
        #[arg(alias = "file")] file_path: &str,
        #[arg(max = 9)] max_count: u8,
        #[arg(default = false)] replace_all: bool,
        #[arg(secret)] access_key: Option<&str>,
    ) -> String {
        format!("{file_path} {max_count} {replace_all} {}", access_key.unwrap_or_default().len())
    }

    fn would_edit(&self, file_path: &str, max_count: u8, replace_all: bool, _access_key: Option<&str>) -> Effect {
        Effect::Text(format!("edit {file_path} {max_count} {replace_all}"))
    }
}

fn builder() -> Builder {
    Dispatcher::builder().also(Editor).manifest(Manifest::default())
}

fn camel(tools: &Dispatcher) -> Dispatcher {
    tools.select(Selection::new().case(NameCase::Camel)).unwrap()
}

async fn call(tools: &Dispatcher, arguments: Value) -> ToolResult {
    tools.call(ToolCall::new("editorEditFile", arguments)).await
}

#[tokio::test]
async fn a_case_applies_to_arguments() {
    let tools = camel(&builder().policy(Policy::Yolo).build().unwrap());
    let definition = tools.definition("editorEditFile").unwrap();
    let names: Vec<_> = definition.arguments.keys().map(String::as_str).collect();
    assert_eq!(names, ["accessKey", "filePath", "maxCount", "replaceAll"]);
    assert_eq!(definition.parameters()["required"], json!(["filePath", "maxCount"]));
    let sent = json!({"filePath": "a", "maxCount": 1, "replaceAll": true, "accessKey": "1815"});
    let result = call(&tools, sent).await;
    assert_eq!((result.output.as_str(), result.metadata.get("repairs")), ("a 1 true 4", None));
}

#[tokio::test]
async fn errors_and_repairs_use_the_new_names() {
    let tools = camel(&builder().policy(Policy::Yolo).build().unwrap());
    let result = call(&tools, json!({"maxCount": 10, "replace_all": true})).await;
    assert_eq!(
        result.output,
        "Invalid arguments for `editorEditFile`:\n\
         - `maxCount`: got 10, expected integer between 0 and 9\n\
         - `replace_all`: unknown argument; did you mean `replaceAll`?\n\
         - `filePath`: missing, expected string"
    );
    let result = call(&tools, json!({"file": "a", "maxCount": "3"})).await;
    assert_eq!(result.output, "a 3 false 0");
    let repairs = result.metadata.get("repairs").unwrap();
    assert_eq!((&repairs[0]["path"], &repairs[0]["from"]), (&json!("filePath"), &json!("file")));
    assert_eq!(repairs[1]["path"], "maxCount");
    let secret = call(&tools, json!({"filePath": "a", "maxCount": 1, "accessKey": 1815})).await;
    assert!(secret.output.contains("`accessKey`") && !secret.output.contains("1815"), "{}", secret.output);
}

/// A policy or a user that knows the tool must not be deceived by the names of a selection.
#[tokio::test]
async fn policies_questions_and_the_journal_use_the_own_names() {
    let own = json!({"file_path": "a", "max_count": 1, "replace_all": false});
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    let confirm = confirm::from_fn(move |question| {
        seen.lock().unwrap().push((question.arguments.clone(), question.preview.clone()));
        async { Decision::Run }
    });
    let tools = camel(&builder().confirm(confirm).journal(MemoryJournal::new()).build().unwrap());
    let result = call(&tools, json!({"filePath": "a", "maxCount": "1"})).await;
    assert_eq!(result.output, "a 1 false 0");
    assert_eq!(*asked.lock().unwrap(), [(own.clone(), Some(json!({"text": "edit a 1 false"})))]);
    let entry = tools.journal().unwrap().entries(EntryQuery::newest(1)).await.unwrap().remove(0);
    assert_eq!((entry.tool.as_str(), &entry.arguments), ("editor.edit_file", &own));

    let forbidden = Policy::custom(|_, tool, arguments| {
        let refuses = arguments["file_path"] == "a" && tool.arguments.contains_key("file_path");
        if refuses { PolicyVerdict::Refuse("not a".to_owned()) } else { PolicyVerdict::Run }
    });
    let tools = camel(&builder().policy(forbidden).build().unwrap());
    assert!(call(&tools, json!({"filePath": "a", "maxCount": 1})).await.output.contains("not a"));
    assert!(call(&tools, json!({"filePath": "b", "maxCount": 1})).await.success, "a control");
}

#[tokio::test]
async fn edited_and_previewed_calls_keep_their_arguments() {
    let edit = confirm::from_fn(|_| async { Decision::Edit(json!({"file_path": "b", "max_count": 2})) });
    let tools = camel(&builder().confirm(edit).build().unwrap());
    let sent = json!({"filePath": "a", "maxCount": 1});
    assert_eq!(call(&tools, sent.clone()).await.output, "b 2 false 0");
    let preview = tools.call(ToolCall::new("editorEditFile", sent.clone())).preview().await.unwrap().unwrap();
    assert_eq!(serde_json::to_value(preview).unwrap(), json!({"text": "edit a 1 false"}));
    let dry = tools.call(ToolCall::new("editorEditFile", sent)).dry_run().await.output;
    assert!(dry.contains(r#""filePath":"a""#) && !dry.contains("file_path"), "{dry}");
}

fn swap() -> RuntimeTool {
    let schema = json!({
        "type": "object", "properties": {"from": {"type": "string"}, "to": {"type": "string"}},
        "required": ["from"], "minProperties": 2,
    });
    RuntimeTool::from_schema("swap", "Swaps.", &schema, |arguments, _| async move { Value::Object(arguments) })
}

#[tokio::test]
async fn an_argument_is_renamed_by_itself() {
    let tools = Dispatcher::builder().manifest(Manifest::default()).tool(swap()).build().unwrap();
    let text = r#"{"rename_arguments": {"swap": {"from": "to", "to": "from"}}}"#;
    let selection: Selection = serde_json::from_str(text).unwrap();
    let same = Selection::new().rename_argument("swap", "from", "to").rename_argument("swap", "to", "from");
    assert_eq!(format!("{selection:?}"), format!("{same:?}"));
    let swapped = tools.select(selection).unwrap();
    let result = swapped.call(ToolCall::new("swap", json!({"from": "a", "to": "b"}))).await;
    assert_eq!(result.output, r#"{"from":"b","to":"a"}"#);
    let missing = swapped.call(ToolCall::new("swap", json!({"from": "a"}))).await;
    assert!(missing.output.contains("`to`: missing"), "{}", missing.output);
    let twice = swapped.select(same).unwrap();
    let result = twice.call(ToolCall::new("swap", json!({"from": "a", "to": "b"}))).await;
    assert_eq!(result.output, r#"{"from":"a","to":"b"}"#, "a selection of a selection");
}

#[test]
fn names_that_cannot_be_given_are_problems() {
    let tools = Dispatcher::builder().manifest(Manifest::default()).tool(swap()).build().unwrap();
    for (tool, argument, name, message) in [
        ("swap", "from", "to", "the new name `to` of `to` is the name of another argument"),
        ("swap", "from", "a b", "the new name \"a b\" of `from` is invalid"),
        ("swap", "form", "a", "it has no argument `form`; is it `from`?"),
        ("swop", "from", "a", "there is no such tool; is it `swap`?"),
    ] {
        let error = tools.select(Selection::new().rename_argument(tool, argument, name)).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// An unknown key may be an argument's own name. The handler does not read it, so nothing else may show it.
#[tokio::test]
async fn an_own_name_that_is_unknown_here_does_not_hide_the_value_that_runs() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    let confirm = confirm::from_fn(move |question| {
        seen.lock().unwrap().push((question.arguments["file_path"].clone(), question.preview.clone()));
        async { Decision::Run }
    });
    let journal = MemoryJournal::new();
    let tools = builder().allow_unknown_arguments().confirm(confirm).journal(journal).build().unwrap();
    let sent = r#"{"filePath": "/etc/shadow", "file_path": "ok.txt", "maxCount": 1, "replaceAll": false}"#;
    let result = camel(&tools).call(ToolCall::from_text("editorEditFile", sent)).await;
    assert_eq!(result.output, "/etc/shadow 1 false 0");
    let shown = (json!("/etc/shadow"), Some(json!({"text": "edit /etc/shadow 1 false"})));
    assert_eq!(*asked.lock().unwrap(), [shown]);
    let entry = tools.journal().unwrap().entries(EntryQuery::newest(1)).await.unwrap().remove(0);
    assert_eq!(entry.arguments, json!({"file_path": "/etc/shadow", "max_count": 1, "replace_all": false}));

    let forbidden = || {
        Policy::custom(|_, _, arguments| match arguments["file_path"] == "/etc/shadow" {
            true => PolicyVerdict::Refuse("secret".to_owned()),
            false => PolicyVerdict::Run,
        })
    };
    let tools = camel(&builder().allow_unknown_arguments().policy(forbidden()).build().unwrap());
    let result = tools.call(ToolCall::from_text("editorEditFile", sent)).await;
    assert!(!result.success, "{}", result.output);
    let control = sent.replace("/etc/shadow", "a.txt");
    assert_eq!(tools.call(ToolCall::from_text("editorEditFile", control)).await.output, "a.txt 1 false 0");
}

fn with_properties(properties: &Value) -> RuntimeTool {
    let schema = json!({"type": "object", "properties": properties});
    RuntimeTool::from_schema("read_file", "Reads.", &schema, |arguments, _| async move { Value::Object(arguments) })
}

#[tokio::test]
async fn a_name_that_stays_may_have_any_form() {
    let tool = with_properties(&json!({"$filter": {"type": "string"}}));
    let tools = Dispatcher::builder().manifest(Manifest::default()).tool(tool).build().unwrap();
    let selected = tools.select(Selection::new().prefix("web_")).unwrap();
    let result = selected.call(ToolCall::new("web_read_file", json!({"$filter": "a"}))).await;
    assert_eq!(result.output, r#"{"$filter":"a"}"#);
}

#[tokio::test]
async fn an_alias_that_becomes_a_name_is_no_alias_any_more() {
    let tool = with_properties(&json!({"line_numbers": {"type": "boolean"}}));
    let tool = tool.alias("readFile").alias("cat").argument_alias("line_numbers", "lineNumbers");
    let tool = tool.argument_alias("line_numbers", "-n");
    let tools = Dispatcher::builder().manifest(Manifest::default()).tool(tool).build().unwrap();
    let selected = camel(&tools);
    let definition = selected.definition("readFile").unwrap();
    definition.check_aliases("readFile").unwrap();
    assert_eq!(
        (&*definition.aliases, &*definition.arguments["lineNumbers"].aliases),
        (&["cat".to_owned()][..], &["-n".to_owned()][..])
    );
    for (name, argument) in [("readFile", "lineNumbers"), ("cat", "-n")] {
        let result = selected.call(ToolCall::new(name, json!({argument: true}))).await;
        assert_eq!(result.output, r#"{"line_numbers":true}"#);
    }
    let only_the_tool = tools.select(Selection::new().rename("read_file", "cat")).unwrap();
    only_the_tool.definition("cat").unwrap().check_aliases("cat").unwrap();
    assert_eq!(tools.definition("read_file").unwrap().aliases, ["readFile", "cat"], "the tool itself keeps them");
}

#[test]
fn a_new_name_cannot_be_an_alias_of_another_argument() {
    let tool = with_properties(&json!({"path": {"type": "string"}, "text": {"type": "string"}}));
    let tool = tool.argument_alias("path", "file");
    let tools = Dispatcher::builder().manifest(Manifest::default()).tool(tool).build().unwrap();
    let renamed = |argument| tools.select(Selection::new().rename_argument("read_file", argument, "file"));
    let error = renamed("text").unwrap_err().to_string();
    assert!(error.contains("the new name `file` of `text` is an alias of `path`"), "{error}");
    assert!(renamed("path").is_ok(), "a control");
}
