//! Hidden tools cannot be called and are never mentioned, and renaming a tool bypasses no rule.

use std::sync::{Arc, Mutex};

use serde_json::json;

use super::*;
use crate::confirm::{self, Decision, PendingApproval, PolicyVerdict, Question};
use crate::journal::{EntryQuery, Journal, MemoryJournal};
use crate::limits::{Limit, Limiter, Retries};
use crate::search::{Shortlist, ToolSearch};
use crate::{ErrorKind, HandlerError, NameCase, Policy, ToolCall, ToolResult};

fn kind(result: &ToolResult) -> Option<ErrorKind> {
    result.error.as_ref().map(|error| error.kind)
}

/// Returns a dispatcher of all tools, the questions that were asked, and a selection without `vault.open`.
fn restricted() -> (Dispatcher, Arc<Mutex<Vec<Question>>>, Dispatcher) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let questions = asked.clone();
    let later = move |question: Question| {
        questions.lock().unwrap().push(question);
        async { Decision::Pending(PendingApproval { token: "t".into(), expires: std::time::SystemTime::now() }) }
    };
    let open = RuntimeTool::new("vault.open", "Open the vault.", |(): ()| async { "opened" }).sensitive();
    let lock = RuntimeTool::new("vault.lock", "Lock the vault.", |(): ()| async { "locked" });
    let tools = Dispatcher::builder()
        .tool(open)
        .tool(lock)
        .service(ToolSearch)
        .confirm(confirm::from_fn(later))
        .build()
        .unwrap();
    let without = tools.select(Selection::new().hide(["vault.open"])).unwrap();
    (tools, asked, without)
}

#[tokio::test]
async fn a_hidden_tool_cannot_be_called() {
    let (tools, asked, without) = restricted();
    let open = || ToolCall::from_text("vault.open", "{}");
    assert_eq!(kind(&tools.call(open()).await), Some(ErrorKind::Pending));
    let question = asked.lock().unwrap()[0].clone();
    // The control: an approved call runs where the tool is offered.
    assert_eq!(tools.approve(question.clone()).await.output, "opened");

    let mut answers = vec![
        without.call(open()).await,
        without.call(open()).dry_run().await,
        without.approve(question.clone()).await,
        without.approve_with(question.clone(), json!({})).await,
        without.select(Selection::new()).unwrap().call(open()).await,
        without.clone().call(open()).await,
    ];
    answers.extend(without.call_all([open(), open()]).await);
    for answer in &answers {
        assert_eq!(kind(answer), Some(ErrorKind::UnknownTool), "{answer:?}");
    }
    assert_eq!(without.call(open()).preview().await.unwrap_err().kind, ErrorKind::UnknownTool);
    assert!(without.definition("vault.open").is_none() && without.manifest().get("vault.open").is_none());
    assert!(without.select(Selection::new().names(["vault.open"])).is_err(), "nor selected again");
    assert!(Shortlist::new(&without, ["vault.open"]).is_err());
    let mut shortlist = Shortlist::new(&without, ["vault.lock"]).unwrap();
    shortlist.add("vault.open");
    assert_eq!(shortlist.definitions().len(), 2, "`vault.lock` and the search");
}

#[tokio::test]
async fn a_hidden_tool_is_never_mentioned() {
    let (tools, _, without) = restricted();
    let search = |tools: Dispatcher| async move {
        tools.call(ToolCall::from_text("search_tools", r#"{"query": "open the vault"}"#)).await.output
    };
    assert!(search(tools.clone()).await.contains("vault.open"), "the control");
    let mut said = vec![search(without.clone()).await, without.instructions(), without.catalogue()];
    for near in ["vault.opne", "vault.open_", "open", "Vault.Open", "vaultopen"] {
        said.push(without.call(ToolCall::from_text(near, "{}")).await.output);
        said.push(without.select(Selection::new().names([near])).unwrap_err().to_string());
    }
    said.push(format!("{:?} {:?}", without.definitions(), without.search("open vault", 9)));
    for said in said {
        assert!(!said.replace("vault.open_", "").contains("vault.open`") && !said.contains("vault.open("), "{said}");
        assert!(!said.contains("Open the vault"), "{said}");
    }
}

#[tokio::test]
async fn a_renamed_tool_is_called_and_named_only_by_its_new_name() {
    let schema = json!({"properties": {"a": {"type": "integer"}}, "required": ["a"]});
    let fail = RuntimeTool::from_schema("own.name", "", &schema, |_, scope: crate::Scope| async move {
        assert_eq!(scope.context().tool(), "own.name");
        if scope.context().conversation().is_none() {
            panic!("oh");
        }
    });
    let tools = Dispatcher::builder().tool(fail).journal(MemoryJournal::new()).build().unwrap();
    let renamed = tools.select(Selection::new().rename("own.name", "given")).unwrap();
    assert_eq!(kind(&renamed.call(ToolCall::from_text("own.name", "{}")).await), Some(ErrorKind::UnknownTool));
    for arguments in ["{}", r#"{"a": 1}"#] {
        for answer in [
            renamed.call(ToolCall::from_text("given", arguments)).await,
            renamed.call(ToolCall::from_text("given", arguments)).dry_run().await,
        ] {
            assert!(answer.output.contains("`given`") && !answer.output.contains("own.name"), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn policies_and_limits_use_the_registered_name() {
    let forbid = Policy::custom(|name, _, _| match name {
        "mail.send" => PolicyVerdict::Refuse("no".to_owned()),
        _ => PolicyVerdict::Run,
    });
    let limiter = Limiter::new().tool("mail.newest", Limit::per_minute(1));
    let tools = Dispatcher::builder()
        .tool(tool("mail.send"))
        .tool(tool("mail.newest"))
        .policy(forbid)
        .limit(limiter)
        .build()
        .unwrap();
    let camel = tools.select(Selection::new().case(NameCase::Camel)).unwrap();
    assert_eq!(kind(&camel.call(ToolCall::from_text("mailSend", "{}")).await), Some(ErrorKind::Refused));
    assert!(tools.call(ToolCall::from_text("mail.newest", "{}")).await.success);
    let limited = camel.call(ToolCall::from_text("mailNewest", "{}")).await;
    assert_eq!(kind(&limited), Some(ErrorKind::RateLimited));
    assert!(limited.output.contains("`mailNewest`"), "{}", limited.output);
}

#[tokio::test]
async fn an_approval_does_not_cover_another_tool_of_the_same_name() {
    let (tools, asked, _) = restricted();
    let secret = RuntimeTool::new("vault.burn", "Burn it.", |(): ()| async { "burnt" }).sensitive();
    tools.registry().register(secret).unwrap();
    let swapped = tools.select(Selection::new().names(["vault.burn"]).rename("vault.burn", "vault.open")).unwrap();
    tools.call(ToolCall::from_text("vault.open", "{}")).await;
    let question = asked.lock().unwrap()[0].clone();
    assert_eq!(kind(&swapped.approve(question).await), Some(ErrorKind::Refused));
}

/// Not even if both tools have equal definitions.
#[tokio::test]
async fn an_approval_does_not_cover_another_tool_with_an_equal_definition() {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let equal = |name: &'static str| {
        let ran = ran.clone();
        let run = move |(): ()| {
            ran.lock().unwrap().push(name);
            std::future::ready(())
        };
        RuntimeTool::new(name, "", run).sensitive()
    };
    let tools = Dispatcher::builder().tool(equal("a")).tool(equal("b")).build().unwrap();
    assert_eq!(tools.definition("a"), tools.definition("b"));
    let swapped = tools.select(Selection::new().rename("a", "b").rename("b", "a")).unwrap();
    let question = Question::new("a", tools.definition("a").unwrap(), json!({}));
    assert_eq!(kind(&swapped.approve(question.clone()).await), Some(ErrorKind::Refused));
    assert!(tools.approve(question).await.success);
    assert_eq!(*ran.lock().unwrap(), ["a"]);
}

#[tokio::test]
async fn retries_count_for_a_tool_under_all_its_names() {
    let again = RuntimeTool::new("own.name", "", |(): ()| async { Err::<(), _>(HandlerError::retry("Again.")) });
    let tools = Dispatcher::builder().tool(again).retries(Retries::default().tool("own.name", 1)).build().unwrap();
    let renamed = tools.select(Selection::new().rename("own.name", "given")).unwrap();
    assert_eq!(kind(&tools.call(ToolCall::from_text("own.name", "{}")).await), Some(ErrorKind::Retry));
    let last = renamed.call(ToolCall::from_text("given", "{}")).await;
    assert_eq!(kind(&last), Some(ErrorKind::Fatal));
    assert!(last.output.contains("`given`") && !last.output.contains("own.name"), "{}", last.output);
}

#[tokio::test]
async fn a_journal_records_the_registered_name() {
    let journal = Arc::new(MemoryJournal::new());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let questions = asked.clone();
    let later = move |question: Question| {
        questions.lock().unwrap().push(question);
        async { Decision::Pending(PendingApproval { token: "t".into(), expires: std::time::SystemTime::now() }) }
    };
    let tools = Dispatcher::builder()
        .tool(tool("own.name").sensitive())
        .journal(journal.clone())
        .confirm(confirm::from_fn(later))
        .build()
        .unwrap();
    let renamed = tools.select(Selection::new().rename("own.name", "given")).unwrap();
    renamed.call(ToolCall::from_text("given", "{}").conversation("c").id("1")).await;
    let question = asked.lock().unwrap()[0].clone();
    assert_eq!((question.tool.as_str(), question.registered.as_str()), ("given", "own.name"));
    assert!(renamed.refuse(&question, None).await.output.contains("`given`"));
    assert!(renamed.approve(question).await.success);
    let entries = journal.entries(EntryQuery::newest(9)).await.unwrap();
    let recorded: Vec<_> =
        entries.iter().map(|entry| (&*entry.tool, entry.decision.as_ref().unwrap().as_str())).collect();
    assert_eq!(recorded, [("own.name", "confirmed"), ("own.name", "refused"), ("own.name", "pending")]);
}
