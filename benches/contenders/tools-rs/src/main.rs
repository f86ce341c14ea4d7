//! tools-rs: tools collected by the linker, called with a JSON value.

use std::collections::HashMap;

use contest::Contender;
use contest::work::{self, Hit, hits};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tools_rs::{FunctionCall, ToolCollection, ToolSchema, tool};

/// The library has no schemas for `Uuid`, `DateTime` and `BTreeMap`, so that of the order is handwritten.
#[derive(Deserialize, Serialize)]
#[serde(transparent)]
struct Order(work::Order);

impl ToolSchema for Order {
    fn schema() -> Value {
        json!({"type": "object"})
    }
}

#[tool]
/// Add two integers.
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tool]
/// Search.
async fn search(query: String, limit: Option<u32>, tags: Vec<String>, filter: HashMap<String, String>) -> Vec<Hit> {
    hits(&query, limit, &tags, filter.len())
}

#[tool]
/// Echo an order.
async fn order(order: Order) -> Order {
    order
}

#[tool]
/// Add two integers when the other calls have had their turn.
async fn pause(a: i64, b: i64) -> i64 {
    work::pause(a, b).await
}

struct ToolsRsCollection(ToolCollection);

impl Contender for ToolsRsCollection {
    async fn start(fillers: usize) -> Self {
        let mut tools = ToolCollection::collect_tools().expect("the tools are complete");
        for number in 0..fillers {
            let name: &'static str = format!("filler_{number}").leak();
            tools.register(name, "One of many.", |a: i64| async move { a }, ()).expect("a new name");
        }
        Self(tools)
    }

    async fn call(&self, tool: &str, arguments: &str) -> String {
        let arguments = serde_json::from_str(arguments).expect("JSON");
        self.0.call(FunctionCall::new(tool.to_owned(), arguments)).await.expect("succeeds").result.to_string()
    }

    fn list(&self) -> Option<String> {
        Some(self.0.json().expect("JSON").to_string())
    }
}

fn main() {
    contest::Entries::new().enter::<ToolsRsCollection>("collection").run();
}
