//! The providers' models against a server that answers as the providers do.

mod answers;
mod failures;
mod histories;
mod settings;

use std::time::Duration;

use futures_util::TryStreamExt;
use tool_agent::{Model, ModelError, Part, Provider, Request};
use tool_runtime::{Dispatcher, tool};

use crate::server::{KEY, Server, Wire};

/// Add two numbers.
#[tool(name = "math.add")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// A tool under a name that no provider takes as it is, for one thing.
pub fn tools() -> Dispatcher {
    Dispatcher::builder().build().expect("the tools need nothing")
}

/// What the variables say for a server.
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

/// A way to be answered: in whose wire format, streamed or not.
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

    pub fn model(self, server: &Server) -> Provider {
        let model = Provider::from_variables(variables(server, self.wire)).expect("it is set up").expect("it is named");
        let model = model.patience(Duration::from_secs(20));
        if self.is_streamed { model } else { model.whole() }
    }
}

/// All parts of an answer.
async fn answered(model: &impl Model, request: Request<'_>) -> Result<Vec<Part>, ModelError> {
    model.answer(request).try_collect().await
}

/// What was said and called, put together.
fn said(parts: &[Part]) -> (String, Vec<String>) {
    let mut text = String::new();
    let mut calls = Vec::new();
    for part in parts {
        match part {
            Part::Text(more) => text.push_str(more),
            Part::Call(call) => {
                calls.push(format!("{} {}", call.name, call.arguments.replace(": ", ":").replace(", ", ",")))
            }
            _ => {}
        }
    }
    (text, calls)
}
