//! The loop of rig.

use rig_agent::{Agent, AgentBuilder};
use rig_core::message::{AssistantContent, ToolCall, ToolFunction, ToolName};
use rig_core::test_utils::{MockCompletionModel, MockTurn};
use rig_core::tool::ToolExecutionError;
use rig_derive::rig_tool;
use serde_json::json;

/// Add two integers.
#[rig_tool]
fn add(a: i64, b: i64) -> Result<i64, ToolExecutionError> {
    Ok(a + b)
}

pub struct RigAgent {
    agent: Agent,
    turns: usize,
}

impl super::Agent for RigAgent {
    fn new(turns: usize, runs: usize) -> Self {
        let mut calls = 0;
        let mut turn = || {
            let call = |a: u32| {
                calls += 1;
                let name = ToolName::new("add").expect("a name");
                let function = ToolFunction::new(name, json!({"a": a, "b": 2}));
                AssistantContent::ToolCall(ToolCall::from_wire(format!("call_{calls}"), function))
            };
            MockTurn::from_contents((1..=3).map(call).collect::<Vec<_>>())
        };
        let mut script = Vec::new();
        for _ in 0..runs {
            script.extend((0..turns).map(|_| turn()));
            script.push(MockTurn::text("3, 4 and 5."));
        }
        let model = MockCompletionModel::from_turns(script);
        Self { agent: AgentBuilder::new(model).tool(Add).build(), turns }
    }

    async fn run(&mut self) -> String {
        // RigAgent runs calls one after the other by default.
        let run = self.agent.prompt("Add up.").max_turns(self.turns + 1).tool_concurrency(16);
        run.run().await.expect("an answer").output()
    }
}
