//! swiftide: boxed tools, looked up and cloned as its agent does.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use contest::Contender;
use contest::work::{self, hits};
use swiftide::chat_completion::errors::ToolError;
use swiftide::chat_completion::{Tool, ToolCall, ToolOutput, ToolSpec};
use swiftide::traits::AgentContext;

type Outcome = Result<ToolOutput, ToolError>;

fn json(output: &impl serde::Serialize) -> Outcome {
    Ok(ToolOutput::text(serde_json::to_string(output)?))
}

#[swiftide::tool(
    description = "Add two integers.",
    param(name = "a", description = "One."),
    param(name = "b", description = "The other.")
)]
async fn add(_context: &dyn AgentContext, a: i64, b: i64) -> Outcome {
    json(&(a + b))
}

#[swiftide::tool(
    description = "Search.",
    param(name = "query", description = "What."),
    param(name = "limit", description = "How many."),
    param(name = "tags", description = "Tags."),
    param(name = "filter", description = "Which.")
)]
async fn search(
    _context: &dyn AgentContext,
    query: String,
    limit: Option<u32>,
    tags: Vec<String>,
    filter: BTreeMap<String, String>,
) -> Outcome {
    json(&hits(&query, limit, &tags, filter.len()))
}

#[swiftide::tool(description = "Echo an order.", param(name = "order", description = "The order."))]
async fn order(_context: &dyn AgentContext, order: work::Order) -> Outcome {
    json(&order)
}

#[swiftide::tool(
    description = "Add two integers when the other calls have had their turn.",
    param(name = "a", description = "One."),
    param(name = "b", description = "The other.")
)]
async fn pause(_context: &dyn AgentContext, a: i64, b: i64) -> Outcome {
    json(&work::pause(a, b).await)
}

/// `add` under another name.
#[derive(Clone)]
struct Filler(String);

#[swiftide::reexports::async_trait::async_trait]
impl Tool for Filler {
    async fn invoke(&self, context: &dyn AgentContext, call: &ToolCall) -> Outcome {
        add().invoke(context, call).await
    }

    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }

    fn tool_spec(&self) -> ToolSpec {
        add().tool_spec()
    }
}

struct SwiftideTools(HashSet<Box<dyn Tool>>);

impl Contender for SwiftideTools {
    async fn start(fillers: usize) -> Self {
        let mut tools = HashSet::from([add().boxed(), search().boxed(), order().boxed(), pause().boxed()]);
        tools.extend((0..fillers).map(|number| Filler(format!("filler_{number}")).boxed()));
        Self(tools)
    }

    async fn call(&self, tool: &str, arguments: &str) -> String {
        let call = ToolCall::builder().id("1").name(tool).args(arguments.to_owned()).build().expect("a call");
        let tool = self.0.iter().find(|known| known.name() == tool).cloned().expect("a tool");
        match tool.invoke(&(), &call).await {
            Ok(ToolOutput::Text(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    fn list(&self) -> Option<String> {
        let specs: Vec<_> = self.0.iter().map(|tool| tool.tool_spec()).collect();
        Some(serde_json::to_string(&specs).expect("JSON"))
    }
}

fn main() {
    contest::Entries::new().enter::<SwiftideTools>("tools").run();
}
