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
