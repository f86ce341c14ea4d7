//! Runtime tools: made from a closure, or from a JSON Schema and a function.

mod into_tool_result;
mod runtime_function;

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

pub use into_tool_result::IntoToolResult;
pub(crate) use runtime_function::RuntimeFunction;
use runtime_function::{StartHandler, decode_error};

use crate::Scope;
use crate::dispatch::BoundTool;
use crate::handler_future::HandlerFuture;

/// A tool that is created at run time and registered by [`Builder::tool`](crate::Builder::tool) or
/// [`Registry::register`](crate::Registry::register).
///
/// Calls of a runtime tool are validated, repaired, confirmed, recorded, limited and cancelled like those of any other
/// tool. [`new`](Self::new) derives the definition from the type of the arguments, a struct with [`JsonSchema`] and
/// `Deserialize`:
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
/// [`from_schema`](Self::from_schema) takes a JSON Schema instead, for tools of other programs. Such a handler, like
/// that of [`scoped`](Self::scoped), receives the [`Scope`] of the call: its context, deadline, cancellation token,
/// progress and the values that the application provides.
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
/// // The model sent a string for a number, which is repaired.
/// let result = tools.call(ToolCall::from_text("issue.close", r#"{"id": "7"}"#).conversation("c-1")).await;
/// assert_eq!(result.output, r#"{"by":"c-1","done":{"id":7}}"#);
/// # Ok(())
/// # }
/// ```
#[must_use = "a tool is not offered until it is registered"]
pub struct RuntimeTool {
    name: String,
    definition: ToolDefinition,
    source: &'static Location<'static>,
    stop_grace: Option<Duration>,
    /// `true` if a flag does not imply `sensitive`.
    not_sensitive: bool,
    /// The schema and handler, or the reason why they are invalid.
    parts: Result<RuntimeToolParts, String>,
}

struct RuntimeToolParts {
    schema: ArgumentSchema,
    start: StartHandler,
}

impl RuntimeTool {
    /// Creates a tool from a closure that takes the arguments as a struct, or `()` for no arguments.
    ///
    /// The handler returns anything that implements [`IntoToolResult`]: a `Result`, a
    /// [`ToolResult`](crate::ToolResult), a string, a JSON value or nothing.
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

    /// Creates a tool like [`new`](Self::new), from a closure that also takes the scope of the call.
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
        let start: StartHandler = Box::new(move |arguments| {
            let arguments = if takes_nothing { Value::Null } else { Value::Object(arguments) };
            // The error is located by a second pass, which successful calls do not need.
            let decoded = A::deserialize(&arguments).map_err(|_| decode_error::<A>(&arguments))?;
            let handler = handler.clone();
            Ok(Box::new(move |scope| HandlerFuture::new(async move { handler(decoded, scope).await.into_answer() })))
        });
        Self::from_parts(name, description, ArgumentSchema::read(&schema), start).handler(type_name::<F>())
    }

    /// Creates a tool whose arguments are described by a JSON Schema. The handler receives the validated JSON object.
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
        Self::from_values(name, description, ArgumentSchema::read(schema), handler)
    }

    /// Creates a tool like [`from_schema`](Self::from_schema) for a remote tool, which validates its arguments itself.
    /// Schema keywords that cannot be enforced here, such as a pattern with a look-ahead, are logged and ignored.
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
        Self::from_values(name, description, schema, handler)
    }

    #[track_caller]
    fn from_values<F, Fut>(
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
        let start: StartHandler = Box::new(move |arguments| {
            let handler = handler.clone();
            Ok(Box::new(move |scope| HandlerFuture::new(async move { handler(arguments, scope).await.into_answer() })))
        });
        Self::from_parts(name, description, schema, start).handler(type_name::<F>())
    }

    #[track_caller]
    fn from_parts(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Result<ArgumentSchema, SchemaError>,
        start: StartHandler,
    ) -> Self {
        let name = name.into();
        let mut definition = ToolDefinition::default();
        definition.description = description.into();
        let parts = match (name::check(&name), schema) {
            (Err(error), _) => Err(error),
            (_, Err(error)) => Err(format!("its schema is invalid: {error}")),
            (Ok(()), Ok(schema)) => {
                schema.describe(&mut definition);
                Ok(RuntimeToolParts { schema, start })
            }
        };
        Self { name, definition, source: Location::caller(), stop_grace: None, not_sensitive: false, parts }
    }

    /// Sets the `handler` of the definition, by default the type name of the closure. A remote tool names its origin,
    /// such as `mcp://github/create_issue`.
    pub fn handler(mut self, handler: impl Into<String>) -> Self {
        self.definition.handler = handler.into();
        self
    }

    /// Describes a successful result by a JSON Schema.
    pub fn returns(mut self, schema: &Value) -> Self {
        if let Err(error) = self.definition.describe_result(schema) {
            self.parts = Err(format!("its result schema is invalid: {error}"));
        }
        self
    }

    /// Copies all [keys](tool_model::KEYS) and the aliases of the arguments from another tool's definition, such as that
    /// of a remote tool.
    pub fn keys_of(mut self, definition: &ToolDefinition) -> Self {
        for (name, argument) in &mut self.definition.arguments {
            argument.aliases = definition.arguments.get(name).map(|known| known.aliases.clone()).unwrap_or_default();
        }
        for key in KEYS {
            key.copy(definition, &mut self.definition);
        }
        self
    }

    /// Marks the tool as sensitive: by default, its calls need an approval.
    pub fn sensitive(mut self) -> Self {
        self.not_sensitive = false;
        self.definition.sensitive = true;
        self
    }

    /// Marks the tool as read-only: it changes nothing.
    pub fn read_only(mut self) -> Self {
        self.definition.read_only = true;
        self
    }

    /// Marks the tool as not sensitive, even if it is [destructive](Self::destructive): its calls need no approval.
    pub fn not_sensitive(mut self) -> Self {
        self.not_sensitive = true;
        self.definition.sensitive = false;
        self
    }

    /// Marks the tool as destructive: it destroys data that cannot be restored. A destructive tool is also
    /// [sensitive](Self::sensitive), unless it is marked [`not_sensitive`](Self::not_sensitive).
    pub fn destructive(mut self) -> Self {
        self.definition.destructive = true;
        if !self.not_sensitive {
            self.definition.set_implied_flags();
        }
        self
    }

    /// Marks the tool as idempotent: repeating a call has no further effect.
    pub fn idempotent(mut self) -> Self {
        self.definition.idempotent = true;
        self
    }

    /// Marks the tool as sequential: it runs alone among the calls of a turn.
    pub fn sequential(mut self) -> Self {
        self.definition.sequential = true;
        self
    }

    /// Marks the tool as one that reports parts of its result while it runs, as [`Progress`](crate::Progress).
    pub fn supports_streaming(mut self) -> Self {
        self.definition.supports_streaming = true;
        self
    }

    /// Marks the tool as deprecated. The reason is appended to the description that models read.
    pub fn deprecated(mut self, reason: impl Into<String>) -> Self {
        self.definition.deprecated = Some(reason.into());
        self
    }

    /// Sets whether model providers are asked to enforce the schema.
    pub fn strict(mut self, strict: bool) -> Self {
        self.definition.strict = Some(strict);
        self
    }

    /// Sets whether arguments are repaired, overriding [`Builder::repair`](crate::Builder::repair).
    pub fn repair(mut self, repair: bool) -> Self {
        self.definition.repair = Some(repair);
        self
    }

    /// Sets the timeout of calls, overriding [`Builder::timeout`](crate::Builder::timeout).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.definition.timeout = Some(timeout);
        self
    }

    /// Gives a cancelled handler time to report the outcome, for work that continues elsewhere, such as that of a
    /// remote tool.
    ///
    /// When a call is stopped, the token of its [`Scope`] is cancelled and the handler has this long to return a
    /// result. If it does not, or if the call was dropped, the result is `OutcomeUnknown` instead of a timeout or
    /// cancellation.
    pub fn settles_within(mut self, grace: Duration) -> Self {
        self.stop_grace = Some(grace);
        self
    }

    /// Adds another name under which the tool can be called, which models do not see.
    pub fn alias(mut self, alias: impl Into<String>) -> Self {
        self.definition.aliases.push(alias.into());
        self
    }

    /// Adds another name for an argument, which models do not see.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    /// let read = RuntimeTool::from_schema("read", "Reads a file.", &schema, |arguments, _| async move {
    ///     arguments["path"].as_str().unwrap_or_default().to_owned()
    /// });
    /// let tools = Dispatcher::builder().tool(read.argument_alias("path", "file_path")).build()?;
    /// assert_eq!(tools.call(ToolCall::new("read", json!({"file_path": "a.txt"}))).await.output, "a.txt");
    /// # Ok(())
    /// # }
    /// ```
    pub fn argument_alias(mut self, argument: &str, alias: impl Into<String>) -> Self {
        match self.definition.arguments.get_mut(argument) {
            Some(argument) => argument.aliases.push(alias.into()),
            None if self.parts.is_ok() => self.parts = Err(format!("it has no argument `{argument}` to give an alias")),
            None => {}
        }
        self
    }

    /// Sets the category, a broad group such as `monitoring`.
    pub fn category(mut self, category: impl Into<String>) -> Self {
        self.definition.category = Some(category.into());
        self
    }

    /// Sets the tags that selections filter by.
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.definition.tags = tags.into_iter().map(Into::into).collect();
        self
    }

    /// Sets instructions for the system prompt that are too long for the description.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.definition.instructions = Some(instructions.into());
        self
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the definition that models receive.
    #[must_use]
    pub fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    /// Returns the file and line that created the tool.
    pub(crate) fn source(&self) -> String {
        format!("{}:{}", self.source.file(), self.source.line())
    }

    pub(crate) fn bind(self) -> Result<BoundTool, String> {
        let source = self.source();
        if self.definition.read_only && self.definition.destructive {
            return Err("`read_only` and `destructive` are mutually exclusive".to_owned());
        }
        let RuntimeToolParts { schema, start } = self.parts?;
        self.definition.check_aliases(&self.name)?;
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
