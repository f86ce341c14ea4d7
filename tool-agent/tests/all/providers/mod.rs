//! Models of providers against a simulated provider.

mod failures;
mod histories;
mod quirks;
mod responses;
mod settings;

use std::time::Duration;

use futures_util::TryStreamExt;
use serde_json::{Map, Value, json};
use tool_agent::{Model, ModelError, ModelRequest, ProviderModel, ResponsePart};
use tool_runtime::{Dispatcher, Manifest, RuntimeTool};

use crate::server::{KEY, Server, Wire};

/// A tool that adds, one that fails, one that needs approval and one that never ends, with names that most providers do
/// not accept unchanged.
pub fn tools() -> Dispatcher {
    let numbers = json!({"a": {"type": "integer"}, "b": {"type": "integer"}});
    let schema = json!({"type": "object", "properties": numbers, "required": ["a", "b"]});
    let add = RuntimeTool::from_schema(
        "math.add",
        "Add two numbers.",
        &schema,
        |numbers: Map<String, Value>, _| async move {
            let number = |name: &str| numbers[name].as_i64().ok_or("a number is too large");
            Ok::<_, &str>((number("a")? + number("b")?).to_string())
        },
    );
    let nothing = json!({"type": "object", "properties": {}});
    let fail = RuntimeTool::from_schema("math.fail", "Fail, always.", &nothing, |_, _| async {
        Err::<String, _>("no numbers today")
    });
    let forget = RuntimeTool::new("math.forget", "Forget a number.", |(): ()| async { "forgotten" }).sensitive();
    let ponder = RuntimeTool::new("math.ponder", "Ponder, for ever.", |(): ()| std::future::pending::<()>());
    // Without the tools of the other tests.
    let tools = Dispatcher::builder().manifest(Manifest::default()).tool(add).tool(fail).tool(forget).tool(ponder);
    tools.build().expect("the tools need nothing")
}

/// Returns the variables for a server.
pub fn variables(server: &Server, wire: Wire) -> impl Fn(&str) -> Option<String> {
    let base = server.base_url(wire);
    let upper = wire.name().to_uppercase();
    move |name| match name {
        "TOOL_MODEL" => Some(format!("{}/test-model", wire.name())),
        name if name == format!("{upper}_BASE_URL") => Some(base.clone()),
        name if name == format!("{upper}_API_KEY") => Some(KEY.to_owned()),
        _ => None,
    }
}

/// A combination of wire format and streaming.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub wire: Wire,
    pub is_streamed: bool,
}

impl Way {
    pub fn all() -> impl Iterator<Item = Self> {
        let both = |wire| [true, false].map(|is_streamed| Self { wire, is_streamed });
        Wire::ALL.into_iter().flat_map(both)
    }

    pub fn model(self, server: &Server) -> ProviderModel {
        let model =
            ProviderModel::from_variables(variables(server, self.wire)).expect("it is set up").expect("it is named");
        let model = model.idle_timeout(Duration::from_secs(20));
        if self.is_streamed { model } else { model.without_streaming() }
    }
}

/// Returns all parts of a response.
async fn answered(model: &impl Model, request: ModelRequest<'_>) -> Result<Vec<ResponsePart>, ModelError> {
    model.respond(request).try_collect().await
}

/// Returns the joined text and the calls.
fn said(parts: &[ResponsePart]) -> (String, Vec<String>) {
    let mut text = String::new();
    let mut calls = Vec::new();
    for part in parts {
        match part {
            ResponsePart::Text(more) => text.push_str(more),
            ResponsePart::Call(call) => {
                calls.push(format!("{} {}", call.name, call.arguments.replace(": ", ":").replace(", ", ",")))
            }
            _ => {}
        }
    }
    (text, calls)
}
