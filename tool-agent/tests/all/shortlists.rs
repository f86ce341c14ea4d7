//! Shortlists of tools.

use serde_json::json;
use tool_agent::{Agent, Message, Mode, ModelRequest, Reply, RunEnding, ScriptedModel, SqliteStore};
use tool_runtime::search::{Shortlist, ToolSearch};
use tool_runtime::{Dispatcher, RuntimeTool};

use crate::providers::Way;
use crate::server::{self, Called, Server, Wire};
use crate::support::{Gauge, assert_valid, builder};

/// Three hundred tools with different topics.
fn tools() -> Dispatcher {
    let things = ["apple", "bridge", "candle", "desert", "engine", "forest"];
    let tool = |number: usize| {
        let (thing, room) = (things[number % things.len()], number / things.len());
        let words = format!("Paint the {thing} in room{room}.");
        let tool = RuntimeTool::new(format!("paint.{thing}_{room}"), words, |(): ()| async { "painted" });
        if number.is_multiple_of(2) { tool.read_only() } else { tool }
    };
    let tools = builder(&Gauge::default()).service(ToolSearch);
    (0..300).map(tool).fold(tools, |tools, tool| tools.tool(tool)).build().unwrap()
}

fn sent(request: ModelRequest<'_>) -> Vec<String> {
    let sent = request.tools.map(Dispatcher::definitions);
    sent.iter().flat_map(|sent| sent.iter()).map(|(name, _)| name.to_string()).collect()
}

/// Searches for a tool that it was not sent, calls it, and reports the tools that it was sent in each turn.
fn searching(request: ModelRequest<'_>) -> Reply {
    let sent = sent(request);
    match request.messages.last() {
        Some(Message::Tools { results }) if results[0].name == "search_tools" => {
            assert!(sent.iter().any(|name| name == "paint.engine_7"), "{sent:?}");
            Reply::call("paint.engine_7", json!({}))
        }
        Some(Message::User { text }) if text == "Paint something." => {
            assert!(!sent.iter().any(|name| name == "paint.engine_7"), "{sent:?}");
            Reply::call("search_tools", json!({"query": "engine room7", "limit": 1}))
        }
        _ => Reply::text(sent.join(" ")),
    }
}

#[tokio::test]
async fn a_model_is_sent_matching_tools_and_finds_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("chats.db")).await.unwrap();
    let agent = || {
        let tools = tools();
        let shortlist = Shortlist::new(&tools, ["paint.apple_0"]).unwrap();
        Agent::builder(ScriptedModel::from_fn(searching), tools).shortlist(shortlist).store(store.clone()).build()
    };
    let conversation = agent().conversation("c");
    let first = conversation.say("Paint the forest in room4.").await.text;
    let first: Vec<&str> = first.split(' ').collect();
    assert!(first.len() <= 10, "of more than 300: {first:?}");
    for name in ["paint.apple_0", "paint.forest_4", "search_tools"] {
        assert!(first.contains(&name), "{name} is not among {first:?}");
    }
    let outcome = conversation.say("Paint something.").await;
    assert_eq!((outcome.ending, outcome.calls), (RunEnding::Answered, 2));
    assert!(outcome.text.contains("paint.engine_7") && outcome.text.contains("paint.forest_4"), "{}", outcome.text);
    assert_valid(&conversation.history().await.unwrap());

    // Tools that were found are sent after a restart as well.
    let again = agent().conversation("c").say("What now?").await.text;
    assert!(again.contains("paint.engine_7"), "{again}");
}

#[tokio::test]
async fn a_mode_restricts_the_shortlist() {
    let tools = tools();
    let shortlist = Shortlist::new(&tools, ["paint.apple_0", "paint.bridge_0"]).unwrap();
    let model = ScriptedModel::from_fn(|request| Reply::text(format!("sent: {}", sent(request).join(" "))));
    let agent = Agent::builder(model, tools).shortlist(shortlist).build();
    for (mode, is_sent) in [(Mode::Build, [true, true]), (Mode::PlanReading, [true, false]), (Mode::Plan, [false; 2])] {
        let conversation = agent.conversation(mode.as_str());
        conversation.set_mode(mode).await.unwrap();
        let sent = conversation.say("Hello.").await.text;
        assert_eq!(["paint.apple_0", "paint.bridge_0"].map(|name| sent.contains(name)), is_sent, "{mode:?}: {sent}");
    }
}

/// Returns the budget for the search tools and this many others, in tokens.
fn room_for(number: usize, tools: &Dispatcher) -> usize {
    let mut shortlist = Shortlist::new(tools, [""; 0]).unwrap();
    ["paint.engine_7", "paint.forest_4"].iter().take(number).for_each(|name| shortlist.add(*name));
    // Names may be a little longer than those.
    shortlist.tokens() + 6
}

#[tokio::test]
async fn a_mode_has_as_many_tools_as_fit_the_budget() {
    let tools = tools();
    let shortlist = Shortlist::new(&tools, [""; 0]).unwrap().budget(room_for(2, &tools));
    let model = ScriptedModel::from_fn(|request| Reply::text(sent(request).join(" ")));
    let agent = Agent::builder(model, tools).shortlist(shortlist).build();
    for mode in [Mode::Build, Mode::PlanReading] {
        let conversation = agent.conversation(mode.as_str());
        conversation.set_mode(mode).await.unwrap();
        let sent = conversation.say("Paint the forest in room4.").await.text;
        // Tools that the mode excludes do not use up its budget.
        assert_eq!(sent.contains("paint.forest_4"), mode == Mode::Build, "{sent}");
        assert_eq!(sent.matches("paint.").count(), 2, "{mode:?}: {sent}");
    }
}

/// Providers know tools by encoded names, and only those that they were sent. A model repeats calls that it reads in
/// its conversation.
#[tokio::test]
async fn a_tool_that_was_called_can_be_called_again() {
    for way in Way::all() {
        let name = if way.wire == Wire::Gemini { "paint.engine_7" } else { "paint__engine_7" };
        let painting = || server::Reply::calls([Called::new("", name, json!({}))]);
        for is_called in [true, false] {
            let (server, tools) = (Server::start([]).await, tools());
            let shortlist = Shortlist::new(&tools, [""; 0]).unwrap().budget(room_for(2, &tools));
            let agent = Agent::builder(way.model(&server), tools).shortlist(shortlist).build();
            let conversation = agent.conversation("c");
            server.follow(is_called.then(painting).into_iter().chain([server::Reply::text("Done.")]));
            conversation.say("Paint the engine in room7.").await;
            server.follow([painting(), server::Reply::text("Done.")]);
            let outcome = conversation.say("Paint the forest in room4, and the bridge there.").await;
            assert_eq!(outcome.answer(), Some("Done."), "{way:?}");
            let is_sent = server.received().iter().rev().nth(1).unwrap().body["tools"].to_string().contains(name);
            assert_eq!(is_sent, is_called, "{way:?}");
            let history = conversation.history().await.unwrap();
            let Some(Message::Tools { results }) = history.iter().rev().nth(1) else { panic!("{history:?}") };
            // The control: a tool that was not called is not sent any more.
            assert!(!is_called || results[0].result.output == "painted", "{way:?}: {results:?}");
        }
    }
}
