//! The shim of a runtime tool, which reads JSON values instead of typed slots.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tool_model::validate::{ValuePath, Violation, ViolationKind};
use tool_model::{ArgumentSchema, ToolDefinition};

use crate::Scope;
use crate::arguments::{ArgumentSchemas, read_values, refused_by_type};
use crate::handler_future::HandlerFuture;
use crate::shim::{HandlerStep, Invocation};

/// Decodes the arguments and returns a closure that runs the handler.
pub(super) type StartHandler = Box<dyn Fn(Map<String, Value>) -> Result<RunHandler, Box<Violation>> + Send + Sync>;

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
    pub(crate) fn schemas(&self, definition: Arc<ToolDefinition>) -> ArgumentSchemas {
        ArgumentSchemas::from_values(definition, |name| self.schema.is_nullable(name))
    }

    /// Decodes the arguments and returns the step that runs the handler in a scope.
    pub(crate) fn invoke(&self, mut invocation: Invocation<'_>) -> HandlerStep {
        let Some(mut arguments) = read_values(&mut invocation, &self.names) else { return invocation.stop() };
        self.schema.convert_whole_numbers(&mut arguments);
        if let Some(errors) = self.violations(&arguments) {
            return invocation.refuse(errors);
        }
        match (self.start)(arguments) {
            Ok(run) => invocation.run(move |mut inputs| Ok(HandlerStep::Future(run(inputs.take_scope()?)))),
            Err(error) => invocation.refuse(vec![*error]),
        }
    }

    /// Validates the arguments against keywords of the whole object, such as `anyOf`.
    fn violations(&self, arguments: &Map<String, Value>) -> Option<Vec<Violation>> {
        let whole = self.schema.whole()?;
        let violations = whole.check(&Value::Object(arguments.clone()), "");
        (!violations.is_empty()).then_some(violations)
    }
}

/// Explains why a type cannot be deserialized from arguments that match its schema.
pub(super) fn decode_error<A: DeserializeOwned>(arguments: &Value) -> Box<Violation> {
    let text = arguments.to_string();
    Box::new(match serde_json::from_str::<A>(&text) {
        Err(error) => refused_by_type(&text, &error),
        // The type deserializes from text but not from a `Value`, so there is no position to report.
        Ok(_) => Violation::new(ValuePath::default(), ViolationKind::Undecodable { reason: None }),
    })
}
