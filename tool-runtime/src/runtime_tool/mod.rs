//! Tools that are made while the program runs: from a closure, or from a JSON Schema and a function.

mod function;
mod reply;

use std::any::type_name;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tool_model::validate::SchemaError;
use tool_model::{ArgumentSchema, KEYS, ToolDefinition, name};

pub(crate) use function::RuntimeFunction;
use function::{Start, cannot_be_read};
pub use reply::IntoToolResult;

use crate::Scope;
use crate::dispatch::BoundTool;
use crate::handler_future::HandlerFuture;

/// A tool that is made while the program runs. It is offered by [`Builder::tool`](crate::Builder::tool) or
/// [`Registry::register`](crate::Registry::register), and is called like any other: its arguments are checked and mended,
/// somebody is asked, it is recorded, stopped, limited.
///
/// What it is comes from the type of its arguments, a struct with [`JsonSchema`] and `Deserialize`:
///
/// ```standalone_crate
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Place {
///     /// The name of the town.
///     town: String,
///     #[schemars(range(min = 1, max = 14))]
///     days: Option<u32>,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let forecast = RuntimeTool::new("weather.forecast", "What the weather will be.", |place: Place| async move {
///     format!("rain in {} for {} days", place.town, place.days.unwrap_or(1))
/// });
/// let tools = Dispatcher::builder().tool(forecast.read_only()).build()?;
///
/// let result = tools.call(ToolCall::from_text("weather.forecast", r#"{"town": "Bergen", "days": 14}"#)).await;
/// assert_eq!(result.output, "rain in Bergen for 14 days");
/// let result = tools.call(ToolCall::from_text("weather.forecast", r#"{"days": 15}"#)).await;
/// assert_eq!(
///     result.output,
///     "Invalid arguments for `weather.forecast`:\n\
///      - `days`: got 15, expected integer between 1 and 14\n\
///      - `town`: missing, expected string"
/// );
/// # Ok(())
/// # }
/// ```
///
/// Or it comes from a JSON Schema, as with tools of other programs. The handler of such a tool, or of one made by
/// [`scoped`](Self::scoped), is given the [`Scope`] of its call: where the call comes from, when it has to be over, a
/// token that tells when it is stopped, where to report progress, and all that the application provides.
///
/// ```standalone_crate
/// use serde_json::{Map, Value, json};
/// use tool_runtime::{Dispatcher, ErrorKind, RuntimeTool, Scope, ToolCall, ToolError, ToolResult};
///
/// async fn ask_another_program(arguments: Map<String, Value>, scope: Scope) -> ToolResult {
///     scope.progress().report("asking");
///     tokio::select! {
///         () = scope.cancellation().cancelled() => {
///             ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, "It may have happened."))
///         }
///         answer = async { json!({"done": arguments, "by": scope.context().conversation()}) } => {
///             let mut result = ToolResult::success(answer.to_string());
///             result.metadata.insert("structured", answer);
///             result
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]});
/// let close = RuntimeTool::from_schema("issue.close", "Close an issue.", &schema, ask_another_program).idempotent();
/// let tools = Dispatcher::builder().tool(close).build()?;
///
/// // The model wrote a text for a number: it is mended, as ever.
/// let result = tools.call(ToolCall::from_text("issue.close", r#"{"id": "7"}"#).conversation("c-1")).await;
/// assert_eq!(result.output, r#"{"by":"c-1","done":{"id":7}}"#);
/// # Ok(())
/// # }
/// ```
#[must_use = "a tool is offered once it is registered"]
pub struct RuntimeTool {
    name: String,
    definition: ToolDefinition,
    source: &'static Location<'static>,
    stop_grace: Option<Duration>,
    /// The function, or why there is none.
    made: Result<Made, String>,
}

struct Made {
    schema: ArgumentSchema,
    start: Start,
}

impl RuntimeTool {
    /// A tool from a closure that takes the arguments as a struct. `()` is for a tool without arguments.
    ///
    /// The handler gives back a `Result`, a [`ToolResult`](crate::ToolResult), a text, a JSON value or nothing; see
    /// [`IntoToolResult`].
    #[track_caller]
    pub fn new<A, F, Fut>(name: impl Into<String>, description: impl Into<String>, handler: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoToolResult> + Send + 'static,
    {
        let tool = Self::scoped(name, description, move |arguments: A, _| handler(arguments));
        tool.handler(type_name::<F>())
    }

    /// As [`new`](Self::new), from a closure that is also given the scope of its call.
    #[track_caller]
    pub fn scoped<A, F, Fut>(name: impl Into<String>, description: impl Into<String>, handler: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(A, Scope) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoToolResult> + Send + 'static,
    {
        let schema: Value =
            SchemaSettings::draft2020_12().for_deserialize().into_generator().into_root_schema_for::<A>().into();
        let takes_nothing = schema["type"] == "null";
        let schema = if takes_nothing { Value::Object(Map::new()) } else { schema };
        let handler = Arc::new(handler);
        let start: Start = Box::new(move |arguments| {
            let arguments = if takes_nothing { Value::Null } else { Value::Object(arguments) };
            // A second reading finds the place; most calls do not need it.
            let decoded = A::deserialize(&arguments).map_err(|_| cannot_be_read::<A>(&arguments))?;
            let handler = handler.clone();
            Ok(Box::new(move |scope| HandlerFuture::new(async move { handler(decoded, scope).await.into_answer() })))
        });
        Self::made(name, description, ArgumentSchema::read(&schema), start).handler(type_name::<F>())
    }

    /// A tool whose arguments a JSON Schema describes. The handler is given them as a JSON object, checked.
    #[track_caller]
    pub fn from_schema<F, Fut>(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: &Value,
        handler: F,
    ) -> Self
    where
        F: Fn(Map<String, Value>, Scope) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoToolResult> + Send + 'static,
    {
        Self::of_values(name, description, ArgumentSchema::read(schema), handler)
    }

    /// As [`from_schema`](Self::from_schema), for a tool of another program, which checks its arguments again itself:
    /// what its schema says and cannot be enforced here, such as a pattern that looks ahead, is logged and left to it.
    #[track_caller]
    pub fn remote<F, Fut>(name: impl Into<String>, description: impl Into<String>, schema: &Value, handler: F) -> Self
    where
        F: Fn(Map<String, Value>, Scope) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoToolResult> + Send + 'static,
    {
        let name = name.into();
        let schema = ArgumentSchema::read_as_far_as_possible(schema);
        for left_out in schema.iter().flat_map(ArgumentSchema::left_out) {
            tracing::debug!(tool = name, "left to the tool: {left_out}");
        }
        Self::of_values(name, description, schema, handler)
    }

    #[track_caller]
    fn of_values<F, Fut>(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Result<ArgumentSchema, SchemaError>,
        handler: F,
    ) -> Self
    where
        F: Fn(Map<String, Value>, Scope) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoToolResult> + Send + 'static,
    {
        let handler = Arc::new(handler);
        let start: Start = Box::new(move |arguments| {
            let handler = handler.clone();
            Ok(Box::new(move |scope| HandlerFuture::new(async move { handler(arguments, scope).await.into_answer() })))
        });
        Self::made(name, description, schema, start).handler(type_name::<F>())
    }

    #[track_caller]
    fn made(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Result<ArgumentSchema, SchemaError>,
        start: Start,
    ) -> Self {
        let name = name.into();
        let mut definition = ToolDefinition::default();
        definition.description = description.into();
        let made = match (name::check(&name), schema) {
            (Err(error), _) => Err(error),
            (_, Err(error)) => Err(format!("its schema: {error}")),
            (Ok(()), Ok(schema)) => {
                schema.describe(&mut definition);
                Ok(Made { schema, start })
            }
        };
        Self { name, definition, source: Location::caller(), stop_grace: None, made }
    }

    /// What `handler` of its definition says: the closure's own name unless set. A tool of another program says where
    /// that is, such as `mcp://github/create_issue`.
    pub fn handler(mut self, handler: impl Into<String>) -> Self {
        self.definition.handler = handler.into();
        self
    }

    /// Says what a successful result looks like, as a JSON Schema.
    pub fn returns(mut self, schema: &Value) -> Self {
        if let Err(error) = self.definition.describe_result(schema) {
            self.made = Err(format!("the schema of its result: {error}"));
        }
        self
    }

    /// Sets all [keys](tool_model::KEYS) to what another tool's definition says, such as that of a tool on another machine.
    pub fn keys_of(mut self, definition: &ToolDefinition) -> Self {
        for key in KEYS {
            key.copy(definition, &mut self.definition);
        }
        self
    }

    /// Somebody is to be asked before it runs.
    pub fn sensitive(mut self) -> Self {
        self.definition.sensitive = true;
        self
    }

    /// It changes nothing.
    pub fn read_only(mut self) -> Self {
        self.definition.read_only = true;
        self
    }

    /// It destroys something that cannot be had back.
    pub fn destructive(mut self) -> Self {
        self.definition.destructive = true;
        self
    }

    /// A second call with the same arguments changes nothing more.
    pub fn idempotent(mut self) -> Self {
        self.definition.idempotent = true;
        self
    }

    /// It does not run beside other calls of the same turn.
    pub fn sequential(mut self) -> Self {
        self.definition.sequential = true;
        self
    }

    /// It should not be used any more, for this reason. Models read it after the description.
    pub fn deprecated(mut self, reason: impl Into<String>) -> Self {
        self.definition.deprecated = Some(reason.into());
        self
    }

    /// Whether providers are asked to enforce the schema.
    pub fn strict(mut self, strict: bool) -> Self {
        self.definition.strict = Some(strict);
        self
    }

    /// Whether arguments that are nearly right are mended, whatever the dispatcher does otherwise.
    pub fn repair(mut self, repair: bool) -> Self {
        self.definition.repair = Some(repair);
        self
    }

    /// How long a call may take.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.definition.timeout = Some(timeout);
        self
    }

    /// What its handler has started goes on when the handler itself is gone, as with a tool of another program.
    ///
    /// A call that is stopped tells its handler so, by the token of its [`Scope`], and the handler has this long to
    /// answer what became of it. If it does not, or if nobody waits any more, the outcome is unknown, and the call
    /// says that instead of that it was stopped.
    pub fn settles_within(mut self, grace: Duration) -> Self {
        self.stop_grace = Some(grace);
        self
    }

    /// A broad group, such as `monitoring`.
    pub fn category(mut self, category: impl Into<String>) -> Self {
        self.definition.category = Some(category.into());
        self
    }

    /// Words to select it by.
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.definition.tags = tags.into_iter().map(Into::into).collect();
        self
    }

    /// More for the system prompt than the description should hold.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.definition.instructions = Some(instructions.into());
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tool as a model is told of it.
    #[must_use]
    pub fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    /// Where it was made.
    pub(crate) fn source(&self) -> String {
        format!("{}:{}", self.source.file(), self.source.line())
    }

    pub(crate) fn bind(self) -> Result<BoundTool, String> {
        let source = self.source();
        if self.definition.read_only && self.definition.destructive {
            return Err("it is called `read_only` and `destructive`, and can only be one".to_owned());
        }
        let Made { schema, start } = self.made?;
        let names = self.definition.arguments.keys().cloned().collect();
        let function = RuntimeFunction { names, schema, start, stop_grace: self.stop_grace, source };
        Ok(BoundTool::runtime(self.name.into(), Arc::new(self.definition), Arc::new(function)))
    }
}

impl fmt::Debug for RuntimeTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeTool").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
