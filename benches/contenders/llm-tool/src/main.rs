//! llm-tool: a registry of tools, called with JSON text.

use std::collections::BTreeMap;

use contest::Contender;
use contest::work::{self, hits};
use llm_tool::{ToolContext, ToolRegistry, llm_tool};

mod fillers {
    #[allow(unused_imports)]
    use llm_tool::llm_tool;
    include!(concat!(env!("OUT_DIR"), "/fillers.rs"));
}

/// Add two integers.
#[llm_tool]
fn add(
    /// One.
    a: i64,
    /// The other.
    b: i64,
) -> i64 {
    a + b
}

/// Search.
#[llm_tool]
fn search(
    /// What.
    query: String,
    /// How many.
    limit: Option<u32>,
    /// Tags.
    tags: Vec<String>,
    /// Which.
    filter: BTreeMap<String, String>,
) -> Vec<work::Hit> {
    hits(&query, limit, &tags, filter.len())
}

/// Echo an order.
#[llm_tool]
fn order(
    /// The order.
    order: work::Order,
) -> work::Order {
    order
}

/// Add two integers when the other calls have had their turn.
#[llm_tool]
async fn pause(
    /// One.
    a: i64,
    /// The other.
    b: i64,
) -> i64 {
    work::pause(a, b).await
}

struct LlmTools {
    registry: ToolRegistry,
    context: ToolContext,
}

impl Contender for LlmTools {
    async fn start(fillers: usize) -> Self {
        assert!(fillers == 0 || fillers == self::fillers::FILLERS, "build with FILLERS={fillers}");
        let mut registry = ToolRegistry::new();
        registry.register(Add).register(Search).register(Order).register(Pause);
        if fillers > 0 {
            self::fillers::register(&mut registry);
        }
        Self { registry, context: ToolContext::new() }
    }

    async fn call(&self, tool: &str, arguments: &str) -> String {
        self.registry.dispatch_str(tool, arguments, &self.context).await.expect("succeeds").into_content()
    }

    fn list(&self) -> Option<String> {
        Some(serde_json::to_string(&self.registry.definitions()).expect("JSON"))
    }
}

fn main() {
    contest::Entries::new().enter::<LlmTools>("registry").run();
}
