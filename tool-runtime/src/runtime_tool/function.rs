//! How a tool that was made at run time is called: as a shim is, with JSON values in place of typed slots.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tool_model::{ArgumentSchema, ToolDefinition};

use crate::Scope;
use crate::arguments::{ArgumentError, Schemas, in_words, place_of, read_values};
use crate::handler_future::HandlerFuture;
use crate::shim::{Invocation, Step};

/// Decodes the arguments; what is given back runs the handler.
pub(super) type Start = Box<dyn Fn(Map<String, Value>) -> Result<Run, ArgumentError> + Send + Sync>;

type Run = Box<dyn FnOnce(Scope) -> HandlerFuture + Send>;

/// The function of a tool that was made at run time.
pub(crate) struct RuntimeFunction {
    /// The arguments, in the order of the definition.
    pub(super) names: Vec<String>,
    pub(super) schema: ArgumentSchema,
    pub(super) start: Start,
    /// How long its handler may take to say what became of a call that is stopped.
    pub(crate) stop_grace: Option<Duration>,
    /// Where it was made.
    pub(crate) source: String,
}

impl RuntimeFunction {
    pub(crate) fn schemas(&self, definition: Arc<ToolDefinition>) -> Schemas {
        Schemas::of_values(definition, |name| self.schema.is_nullable(name))
    }

    /// Decodes the arguments and hands back what runs, to be run in a scope.
    pub(crate) fn invoke(&self, mut invocation: Invocation<'_>) -> Step {
        let Some(arguments) = read_values(&mut invocation, &self.names) else { return invocation.stop() };
        if let Some(errors) = self.violations(&arguments) {
            return invocation.refuse(errors);
        }
        match (self.start)(arguments) {
            Ok(run) => invocation.run(move |mut inputs| Ok(Step::Future(run(inputs.take_scope()?)))),
            Err(error) => invocation.refuse(vec![error]),
        }
    }

    /// What is wrong with the arguments together.
    fn violations(&self, arguments: &Map<String, Value>) -> Option<Vec<ArgumentError>> {
        let whole = self.schema.whole()?;
        let violations = whole.check(&Value::Object(arguments.clone()), "");
        (!violations.is_empty()).then(|| violations.into_iter().map(in_words).collect())
    }
}

/// What a type has against arguments that their schema takes.
pub(super) fn cannot_be_read<A: DeserializeOwned>(arguments: &Value) -> ArgumentError {
    let text = arguments.to_string();
    match serde_json::from_str::<A>(&text) {
        Err(error) => place_of(&text, &error),
        // It reads a text, but not a value; there is nothing to say where.
        Ok(_) => ArgumentError { path: String::new(), received: None, expected: "they cannot be read".to_owned() },
    }
}
