//! The shim of a runtime tool, which reads JSON values instead of typed slots.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tool_model::{ArgumentSchema, ToolDefinition};

use crate::Scope;
use crate::arguments::{ArgumentError, Schemas, in_words, place_of, read_values};
use crate::handler_future::HandlerFuture;
use crate::shim::{Invocation, Step};

/// Decodes the arguments and returns a closure that runs the handler.
pub(super) type StartHandler = Box<dyn Fn(Map<String, Value>) -> Result<RunHandler, ArgumentError> + Send + Sync>;

type RunHandler = Box<dyn FnOnce(Scope) -> HandlerFuture + Send>;

/// The schema and handler of a runtime tool.
pub(crate) struct RuntimeFunction {
    /// The names of the arguments, in the order of the definition.
    pub(super) names: Vec<String>,
    pub(super) schema: ArgumentSchema,
    pub(super) start: StartHandler,
    /// The time that a cancelled handler has to report the outcome.
    pub(crate) stop_grace: Option<Duration>,
    /// The file and line that created the tool.
    pub(crate) source: String,
}

impl RuntimeFunction {
    pub(crate) fn schemas(&self, definition: Arc<ToolDefinition>) -> Schemas {
        Schemas::of_values(definition, |name| self.schema.is_nullable(name))
    }

    /// Decodes the arguments and returns the step that runs the handler in a scope.
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

    /// Validates the arguments against keywords of the whole object, such as `anyOf`.
    fn violations(&self, arguments: &Map<String, Value>) -> Option<Vec<ArgumentError>> {
        let whole = self.schema.whole()?;
        let violations = whole.check(&Value::Object(arguments.clone()), "");
        (!violations.is_empty()).then(|| violations.into_iter().map(in_words).collect())
    }
}

/// Explains why a type cannot be deserialized from arguments that match its schema.
pub(super) fn decode_error<A: DeserializeOwned>(arguments: &Value) -> ArgumentError {
    let text = arguments.to_string();
    match serde_json::from_str::<A>(&text) {
        Err(error) => place_of(&text, &error),
        // The type deserializes from text but not from a `Value`, so there is no position to report.
        Ok(_) => ArgumentError { path: String::new(), received: None, expected: "they cannot be read".to_owned() },
    }
}
