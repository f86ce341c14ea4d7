//! Tools called by `#[tool(alias = ..)]`. An alias reaches the tool and what protects it, never around that.

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use serde_json::json;
use tool_runtime::confirm::{self, Decision, Deferred, PolicyVerdict, Question, TokenError};
use tool_runtime::journal::{EntryQuery, MemoryJournal};
use tool_runtime::limits::{Limit, Limiter};
use tool_runtime::{Builder, Dispatcher, ErrorKind, Manifest, Policy, RuntimeTool, Selection, ToolCall, ToolResult};

use crate::fixtures;

const SENT: &str = r#"{"user": "ada", "pwd": "1815"}"#;

fn builder() -> Builder {
    Dispatcher::builder().manifest(fixtures::theme("aliases"))
}

fn kind(result: &ToolResult) -> Option<ErrorKind> {
    result.error.as_ref().map(|error| error.kind)
}

#[tokio::test]
async fn an_alias_calls_the_tool_and_is_noted_as_a_repair() {
    let tools = builder().policy(Policy::Yolo).build().unwrap();
    for alias in ["sign_in", "signIn"] {
        let result = tools.call(ToolCall::from_text(alias, SENT)).await;
        assert_eq!(result.output, "ada 4");
        let repairs = result.metadata.get("repairs").unwrap();
        assert_eq!(repairs[0], json!({"path": "", "from": alias, "to": "aliases.login", "why": "alias"}));
        assert_eq!(repairs[1]["path"], "password");
    }
    assert_eq!(tools.resolve("signIn").as_deref(), Some("aliases.login"));
    let direct = tools.call(ToolCall::from_text("aliases.login", r#"{"user": "ada", "password": "1815"}"#)).await;
    assert_eq!(direct.metadata.get("repairs"), None, "a control");
}

#[tokio::test]
async fn lists_do_not_have_aliases_and_suggestions_are_names() {
    let tools = builder().build().unwrap();
    assert!(tools.definitions().iter().all(|(name, _)| name.starts_with("aliases.")));
    let unknown = tools.call(ToolCall::from_text("aliases.logins", "{}")).await;
    assert_eq!(unknown.output, "There is no tool `aliases.logins`. Did you mean `aliases.login`?");
    let near_an_alias = tools.call(ToolCall::from_text("sign_inn", "{}")).await;
    assert!(!near_an_alias.output.contains("`sign_in`"), "{}", near_an_alias.output);
}

/// Runs a check for the name and for the alias of the sensitive tool.
#[tokio::test]
async fn a_policy_decides_about_the_tool_and_not_its_alias() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let names = asked.clone();
    let ask = confirm::from_fn(move |question| {
        names.lock().unwrap().push((question.tool.clone(), question.arguments.clone()));
        async { Decision::refuse("no") }
    });
    let tools = builder().policy(Policy::ConfirmSensitive).confirm(ask).build().unwrap();
    for name in ["aliases.login", "sign_in"] {
        let result = tools.call(ToolCall::from_text(name, SENT)).await;
        assert_eq!(result.output, "`aliases.login` was refused: no.", "{name}");
    }
    let expected = ("aliases.login".to_owned(), json!({"user": "ada", "password": "1815"}));
    assert_eq!(*asked.lock().unwrap(), [expected.clone(), expected]);
    assert!(tools.may_ask("sign_in"));

    let by_name = Policy::custom(|name, _, arguments| match name {
        "aliases.login" if arguments["password"] == "1815" => PolicyVerdict::Refuse("never".to_owned()),
        _ => PolicyVerdict::Run,
    });
    let tools = builder().policy(by_name).build().unwrap();
    for name in ["aliases.login", "sign_in"] {
        assert_eq!(kind(&tools.call(ToolCall::from_text(name, SENT)).await), Some(ErrorKind::Refused), "{name}");
    }
}

#[tokio::test]
async fn an_approved_call_by_an_alias_runs_once_as_the_tool() {
    let deferred = Deferred::new([7; 32]);
    let tools = builder().confirm(deferred.clone()).build().unwrap();
    let pending = tools.call(ToolCall::from_text("sign_in", SENT)).await;
    assert_eq!(kind(&pending), Some(ErrorKind::Pending), "{pending:?}");
    let token = pending.metadata.get("token").unwrap().as_str().unwrap();
    let resume = async || {
        let approve = |question: Question| {
            assert_eq!(question.tool, "aliases.login");
            tools.approve(question)
        };
        deferred.resume(token, SystemTime::now(), approve).await
    };
    assert_eq!(resume().await.unwrap().output, "ada 4");
    assert_eq!(resume().await, Err(TokenError::Invalid));
}

#[tokio::test]
async fn a_limit_counts_calls_by_an_alias() {
    let tools =
        builder().policy(Policy::Yolo).limit(Limiter::new().tool("aliases.copy", Limit::total(1))).build().unwrap();
    assert!(tools.call(ToolCall::from_text("aliases.copy", r#"{"from": "a"}"#)).await.success);
    let second = tools.call(ToolCall::from_text("cp", r#"{"from": "a"}"#)).await;
    assert_eq!(kind(&second), Some(ErrorKind::RateLimited), "{second:?}");
}

#[tokio::test]
async fn the_journal_records_the_name_and_the_arguments() {
    let tools = builder().policy(Policy::Yolo).journal(MemoryJournal::new()).build().unwrap();
    let call = || ToolCall::from_text("cp", r#"{"file_path": "a"}"#).conversation("c").id("1");
    assert!(tools.call(call()).await.success);
    let entry = tools.journal().unwrap().entries(EntryQuery::newest(1)).await.unwrap().remove(0);
    assert_eq!((entry.tool.as_str(), &entry.arguments), ("aliases.copy", &json!({"from": "a", "replace_all": false})));
    let same = ToolCall::from_text("aliases.copy", r#"{"from": "a"}"#).conversation("c").id("1");
    assert!(tools.call(same).await.metadata.get("replayed").is_some(), "it is the same call");
}

#[tokio::test]
async fn an_alias_does_not_reach_a_disabled_tool_or_one_that_is_not_selected() {
    let tools = builder().policy(Policy::Yolo).build().unwrap();
    let others = tools.select(Selection::new().hide(["aliases.copy"])).unwrap();
    let own = tools.select(Selection::new().names(["aliases.copy"])).unwrap();
    let call = || ToolCall::from_text("cp", r#"{"from": "a"}"#);
    assert_eq!(kind(&others.call(call()).await), Some(ErrorKind::UnknownTool));
    assert_eq!(own.call(call()).await.output, "a None false", "a control");
    tools.registry().disable("aliases.copy").unwrap();
    assert_eq!(kind(&tools.call(call()).await), Some(ErrorKind::UnknownTool));
    assert_eq!(kind(&own.call(call()).await), Some(ErrorKind::UnknownTool));
    let error = tools.select(Selection::new().hide(["cp"])).unwrap_err().to_string();
    assert!(error.contains("there is no such tool"), "the tool is disabled: {error}");
    tools.registry().enable("aliases.copy").unwrap();
    let error = tools.select(Selection::new().hide(["cp"])).unwrap_err().to_string();
    assert!(error.contains("`cp`: this is an alias of `aliases.copy`; write `aliases.copy`"), "{error}");
}

fn named(name: &str) -> RuntimeTool {
    let name = name.to_owned();
    RuntimeTool::new(name.clone(), "Says its name.", move |()| {
        let name = name.clone();
        async move { name }
    })
}

fn empty() -> Builder {
    Dispatcher::builder().manifest(Manifest::default())
}

#[tokio::test]
async fn an_alias_that_another_tool_has_is_a_problem() {
    for (other, message) in [
        (named("exec"), "`run`: its alias `exec` is also the name of"),
        (named("other").alias("exec"), "`other`: its alias `exec` is also an alias of `run`,"),
    ] {
        let error = empty().tool(other).tool(named("run").alias("exec")).build().unwrap_err().to_string();
        assert!(
            error.contains(message) || error.contains("`run`: its alias `exec` is also an alias of `other`,"),
            "{error}"
        );
        assert!(error.contains("remove the alias, or rename one of the tools"), "{error}");
    }
    let with_linked = builder().tool(named("cp")).build().unwrap_err().to_string();
    assert!(with_linked.contains("`aliases.copy`: its alias `cp` is also the name of"), "{with_linked}");
    let own = empty().tool(named("run").alias("run")).build().unwrap_err().to_string();
    assert!(own.contains("its alias `run` is its own name, or listed twice"), "{own}");
    let invalid = empty().tool(named("run").alias("run it")).build().unwrap_err().to_string();
    assert!(invalid.contains("its alias \"run it\" is invalid"), "{invalid}");
    let missing = empty().tool(named("run").argument_alias("path", "file")).build().unwrap_err().to_string();
    assert!(missing.contains("it has no argument `path` to give an alias"), "{missing}");
}

#[tokio::test]
async fn a_tool_may_replace_an_alias_and_then_has_the_name() {
    let tools = empty().tool(named("run").alias("exec")).build().unwrap();
    let error = tools.registry().register(named("exec")).unwrap_err().to_string();
    assert!(error.contains("`exec`: its name is an alias of `run`,"), "{error}");
    let call = || ToolCall::from_text("exec", "{}");
    assert_eq!(tools.call(call()).await.output, "run");
    tools.registry().replace(named("exec")).unwrap();
    assert_eq!(tools.call(call()).await.output, "exec");
    tools.registry().remove("exec");
    assert_eq!(tools.call(call()).await.output, "run");
}

#[test]
fn a_manifest_with_other_aliases_is_stale() {
    let text = fixtures::theme("aliases").to_json();
    for (was, is, message) in [
        (
            "\"file_path\"",
            "\"file\"",
            r#"argument `from`: `aliases` is ["file"] in the manifest, ["file_path"] in the code"#,
        ),
        ("\"cp\"", "\"copy\"", r#"`aliases` is ["copy"] in the manifest, ["cp"] in the code"#),
    ] {
        assert!(text.contains(was));
        let manifest = Manifest::from_json(&text.replace(was, is)).unwrap();
        let error = Dispatcher::builder().manifest(manifest).build().unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}
