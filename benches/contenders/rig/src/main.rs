//! rig: typed tools in a `ToolSet`, executed by name.

use std::collections::BTreeMap;

use contest::Contender;
use contest::work::{self, Hit, hits};
use rig_agent::tool::ToolSet;
use rig_core::message::ToolName;
use rig_core::tool::{DynamicTool, ToolContext, ToolExecutionError, ToolOutput};
use rig_derive::rig_tool;

/// Add two integers.
#[rig_tool]
fn add(a: i64, b: i64) -> Result<i64, ToolExecutionError> {
    Ok(a + b)
}

/// Search.
#[rig_tool]
fn search(
    query: String,
    limit: Option<u32>,
    tags: Vec<String>,
    filter: BTreeMap<String, String>,
) -> Result<Vec<Hit>, ToolExecutionError> {
    Ok(hits(&query, limit, &tags, filter.len()))
}

/// Echo an order.
#[rig_tool]
fn order(order: work::Order) -> Result<work::Order, ToolExecutionError> {
    Ok(order)
}

/// Add two integers when the other calls have had their turn.
#[rig_tool]
async fn pause(a: i64, b: i64) -> Result<i64, ToolExecutionError> {
    Ok(work::pause(a, b).await)
}

struct RigTools(ToolSet);

impl Contender for RigTools {
    async fn start(fillers: usize) -> Self {
        let mut tools = ToolSet::default();
        tools.add_tool(Add);
        tools.add_tool(Search);
        tools.add_tool(Order);
        tools.add_tool(Pause);
        for number in 0..fillers {
            let name = ToolName::new(format!("filler_{number}")).expect("a name");
            let schema = serde_json::json!({"type": "object", "properties": {"a": {"type": "integer"}}});
            let filler = DynamicTool::new(name, "One of many.", schema, |arguments| {
                Box::pin(async move { Ok(ToolOutput::json(arguments)) })
            });
            tools.add_dynamic_tool(filler);
        }
        Self(tools)
    }

    async fn call(&self, tool: &str, arguments: &str) -> String {
        let result = self.0.execute(tool, arguments, &mut ToolContext::new()).await;
        assert!(result.is_success(), "{result:?}");
        result.output().render()
    }

    fn list(&self) -> Option<String> {
        Some(serde_json::to_string(&self.0.tool_definitions()).expect("JSON"))
    }
}

fn main() {
    contest::Entries::new().enter::<RigTools>("toolset").run();
}
