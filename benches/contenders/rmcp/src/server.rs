//! The tools as an author of an rmcp server writes them. Structured results are returned as JSON text.

use std::collections::BTreeMap;

use contest::work::{self, Order, hits};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Search {
    query: String,
    limit: Option<u32>,
    tags: Vec<String>,
    filter: BTreeMap<String, String>,
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    order: Order,
}

pub struct RmcpServer {
    pub tool_router: ToolRouter<Self>,
}

fn json(output: &impl Serialize) -> String {
    serde_json::to_string(output).expect("JSON")
}

#[tool_router]
impl RmcpServer {
    /// Adds this many fillers, which are `add` under other names.
    pub fn new(fillers: usize) -> Self {
        let mut tool_router = Self::tool_router();
        let add = tool_router.map["add"].clone();
        for number in 0..fillers {
            let mut route = add.clone();
            route.attr.name = format!("filler_{number}").into();
            tool_router.add_route(route);
        }
        Self { tool_router }
    }

    #[tool(description = "Add two integers.")]
    fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        (a + b).to_string()
    }

    #[tool(description = "Search.")]
    fn search(&self, Parameters(Search { query, limit, tags, filter }): Parameters<Search>) -> String {
        json(&hits(&query, limit, &tags, filter.len()))
    }

    #[tool(description = "Echo an order.")]
    fn order(&self, Parameters(Echo { order }): Parameters<Echo>) -> String {
        json(&order)
    }

    #[tool(description = "Add two integers when the other calls have had their turn.")]
    async fn pause(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        work::pause(a, b).await.to_string()
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for RmcpServer {}
