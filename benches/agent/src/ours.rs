//! The loop of `tool-agent`.

use serde_json::json;
use tool_agent::{Reply, ScriptedModel};
use tool_runtime::{Dispatcher, tool};

/// Add two integers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

pub struct OwnAgent(tool_agent::Agent);

impl super::Agent for OwnAgent {
    fn new(turns: usize, runs: usize) -> Self {
        let calls = || {
            let call = |reply: Reply, a: u32| reply.and_call("add", json!({"a": a, "b": 2}));
            (1..=3).fold(Reply::default(), call)
        };
        let script = (0..runs).flat_map(|_| (0..turns).map(|_| calls()).chain([Reply::text("3, 4 and 5.")]));
        let tools = Dispatcher::builder().build().expect("nothing is missing");
        Self(tool_agent::Agent::builder(ScriptedModel::new(script.collect::<Vec<_>>()), tools).build())
    }

    async fn run(&mut self) -> String {
        let outcome = self.0.temporary_conversation("measured").say("Add up.").await;
        assert!(outcome.answer().is_some(), "{outcome:?}");
        outcome.text
    }
}
