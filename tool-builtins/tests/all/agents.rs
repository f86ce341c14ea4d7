//! The calls of agents that know the tools by other names: `tests/agents/*.json` has the parameters and example calls of
//! one agent each. Every one of them runs against the tools as they are.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;
use tool_builtins::exec::Exec;
use tool_builtins::files::Files;
use tool_builtins::message::{Messages, Outbox, OutboxReceiver};
use tool_builtins::spawn::{Spawn, SpawnError, Spawner, Task};
use tool_builtins::web::search::{SearchFuture, SearchProvider, SearchQuery, SearchResult};
use tool_runtime::{Dispatcher, Policy, ToolCall};

use crate::web::test_server::{Server, ok};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Agent {
    #[expect(dead_code, reason = "for readers of the file")]
    about: String,
    /// The JSON types of the parameters of each tool.
    parameters: BTreeMap<String, BTreeMap<String, String>>,
    calls: Vec<ExampleCall>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExampleCall {
    tool: String,
    arguments: Value,
    /// A part of the output of a call that succeeds.
    shows: Option<String>,
    /// A part of the output of a call that fails.
    fails: Option<String>,
    /// The files that the call leaves.
    #[serde(default)]
    writes: BTreeMap<String, String>,
}

struct Echo;

impl Spawner for Echo {
    async fn run(&self, task: Task) -> Result<String, SpawnError> {
        Ok(format!("{}, {}", task.task, task.context.unwrap_or_default()))
    }
}

impl SearchProvider for Echo {
    fn name(&self) -> &str {
        "Echo"
    }

    fn search<'a>(&'a self, query: &'a SearchQuery) -> SearchFuture<'a> {
        Box::pin(async move { Ok(vec![SearchResult::new(&query.text, "https://example.com/", "")]) })
    }
}

pub(crate) fn tools(workspace: &Path, site: &Server) -> (Dispatcher, OutboxReceiver) {
    let (outbox, inbox) = Outbox::new(8);
    let builder = Dispatcher::builder()
        .policy(Policy::Yolo)
        .service(Files::new(workspace).unwrap())
        .service(Exec::new(workspace).unwrap())
        .service(Messages::new(outbox).to_anywhere())
        .service(Spawn::new(Echo))
        .service(crate::web::web(site).search(Echo));
    (builder.build().unwrap(), inbox)
}

/// Checks that a tool takes each parameter, by its name or an alias, with its type.
fn check_parameters(tools: &Dispatcher, name: &str, parameters: &BTreeMap<String, String>) {
    let definition = tools.definition(name).unwrap_or_else(|| panic!("there is no tool `{name}`"));
    for (parameter, type_name) in parameters {
        let mut arguments = definition.arguments.iter();
        let found = arguments.find(|(own, argument)| *own == parameter || argument.aliases.contains(parameter));
        let (_, argument) = found.unwrap_or_else(|| panic!("`{name}` has no argument `{parameter}`"));
        assert_eq!(argument.type_name, *type_name, "`{name}`, `{parameter}`");
    }
}

async fn run_agent(text: &str) {
    let agent: Agent = serde_json::from_str(text).unwrap();
    let workspace = TempDir::new().unwrap();
    let site = Server::always(ok("text/html", "<p>a page</p>")).await;
    let (tools, _inbox) = tools(workspace.path(), &site);
    for (name, parameters) in &agent.parameters {
        check_parameters(&tools, name, parameters);
        assert!(agent.calls.iter().any(|call| call.tool == *name), "no call of `{name}`");
    }
    for call in agent.calls {
        let arguments = call.arguments.to_string().replace("{site}", &site.url("/"));
        let shown = format!("{} {arguments}", call.tool);
        let result = tools.call(ToolCall::from_text(&call.tool, &arguments).channel("telegram", "123456")).await;
        assert_eq!(result.success, call.fails.is_none(), "{shown}: {}", result.output);
        let expected = call.shows.or(call.fails).unwrap_or_default();
        assert!(result.output.contains(&expected), "{shown}: {}", result.output);
        for (path, content) in call.writes {
            assert_eq!(fs::read_to_string(workspace.path().join(path)).unwrap(), content, "{shown}");
        }
    }
}

#[tokio::test]
async fn an_agent_with_four_file_tools_is_served() {
    run_agent(include_str!("../agents/workspace.json")).await;
}

#[tokio::test]
async fn an_assistant_with_nine_tools_is_served() {
    run_agent(include_str!("../agents/assistant.json")).await;
}

#[tokio::test]
async fn an_editor_with_five_tools_in_camel_case_is_served() {
    run_agent(include_str!("../agents/editor.json")).await;
}

/// Each alias of a built-in tool reaches that tool, and no list has it.
#[tokio::test]
async fn aliases_are_not_listed() {
    let workspace = TempDir::new().unwrap();
    let site = Server::always(ok("text/html", "")).await;
    let (tools, _inbox) = tools(workspace.path(), &site);
    let names: Vec<String> = tools.definitions().iter().map(|(name, _)| name.to_string()).collect();
    for (name, definition) in tools.definitions().iter() {
        assert!(name.len() < 8 || !definition.aliases.is_empty(), "`{name}` has no name in camel case");
        for alias in &definition.aliases {
            assert_eq!(tools.resolve(alias).as_deref(), Some(&**name), "{alias}");
            assert!(!names.contains(alias), "{alias}");
        }
        let shown = definition.parameters().to_string();
        assert!(!shown.contains("file_path") && !shown.contains("filePattern"), "{shown}");
    }
}
