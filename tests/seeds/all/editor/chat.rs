//! The loop of the editor and its two modes.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tool_agent::{Agent, Mode, Reply, ScriptedModel};

use crate::support::Workspace;

/// The request to a model: the system prompt and the number of tools.
type Requests = Arc<Mutex<Vec<(String, usize)>>>;

/// Returns an agent over the workspace whose model tries to write a file until it has read a result.
fn agent(workspace: &Workspace, mode: Mode) -> (Agent, Requests) {
    let requests = Requests::default();
    let seen = requests.clone();
    let model = ScriptedModel::from_fn(move |request| {
        let tools = request.tools.map_or(0, |tools| tools.definitions().len());
        let mut seen = seen.lock().unwrap();
        seen.push((request.system.unwrap_or_default().to_owned(), tools));
        match (tools, seen.len()) {
            (0, _) => Reply::text("First I would write src/App.tsx."),
            (_, 1) => {
                Reply::text("Let me write.").and_call("write_file", json!({"path": "src/App.tsx", "content": "x"}))
            }
            _ => Reply::text("It is done."),
        }
    });
    let agent = Agent::builder(model, workspace.tools.clone())
        .prompt(Mode::Build, "Use the tools.")
        .prompt(Mode::Plan, "Explain your plan step by step.")
        .mode(mode)
        .build();
    (agent, requests)
}

/// Requirement 270
#[tokio::test]
async fn a_model_calls_tools_until_it_answers() {
    let workspace = Workspace::new();
    let (agent, requests) = agent(&workspace, Mode::Build);
    let outcome = agent.conversation("c").say("Add a component.").await;
    assert_eq!((outcome.answer(), outcome.calls), (Some("It is done."), 1));
    assert_eq!((requests.lock().unwrap().len(), workspace.text("src/App.tsx")), (2, "x".to_owned()));
}

/// Requirement 276
#[tokio::test]
async fn all_tools_are_sent_in_build_mode() {
    let workspace = Workspace::new();
    let (agent, requests) = agent(&workspace, Mode::Build);
    agent.conversation("c").say("Add a component.").await;
    assert_eq!(requests.lock().unwrap()[0].1, workspace.tools.definitions().len());
}

/// Requirement 277
#[tokio::test]
async fn no_tools_are_sent_in_plan_mode() {
    let (agent, requests) = agent(&Workspace::new(), Mode::Plan);
    agent.conversation("c").say("How would you add a component?").await;
    assert_eq!(requests.lock().unwrap()[0].1, 0);
}

/// Requirement 278
#[tokio::test]
async fn nothing_changes_in_plan_mode() {
    let workspace = Workspace::new();
    let write = Reply::call("write_file", json!({"path": "a", "content": "x"}));
    let model = ScriptedModel::new([write, Reply::text("I cannot.")]).allow_unknown_tools();
    let agent = Agent::builder(model, workspace.tools.clone()).mode(Mode::Plan).build();
    let outcome = agent.conversation("c").say("Write it anyway.").await;
    assert_eq!(outcome.failed_calls.len(), 1);
    assert!(!workspace.path("a").exists());
}

/// Requirement 279
#[tokio::test]
async fn build_mode_has_a_prompt_of_its_own() {
    let (agent, requests) = agent(&Workspace::new(), Mode::Build);
    agent.conversation("c").say("Add a component.").await;
    let system = requests.lock().unwrap()[0].0.clone();
    assert!(system.contains("Use the tools.") && !system.contains("plan"), "{system}");
}

/// Requirement 280
#[tokio::test]
async fn plan_mode_has_a_prompt_of_its_own() {
    let (agent, requests) = agent(&Workspace::new(), Mode::Plan);
    agent.conversation("c").say("How?").await;
    let system = requests.lock().unwrap()[0].0.clone();
    assert!(system.contains("step by step") && !system.contains("Use the tools."), "{system}");
}

/// Requirement 282
#[tokio::test]
async fn the_mode_can_be_changed_during_a_conversation() {
    let workspace = Workspace::new();
    let (agent, requests) = agent(&workspace, Mode::Plan);
    let conversation = agent.conversation("c");
    conversation.say("How?").await;
    conversation.set_mode(Mode::Build).await.unwrap();
    conversation.say("Do it.").await;
    let tools: Vec<usize> = requests.lock().unwrap().iter().map(|(_, tools)| *tools).collect();
    assert_eq!(tools, [0, workspace.tools.definitions().len()]);
}
