//! Validation of arguments without a call.

use std::fmt::Display;

use super::Dispatcher;
use crate::arguments::{ArgumentReader, Repair};
use crate::dispatch::call::messages::arguments_too_long;
use crate::handler_failure::HandlerFailure;
use crate::shim::{HandlerStep, Invocation, InvocationPurpose};
use crate::{ToolCall, ToolError, panics};

impl Dispatcher {
    /// Validates the arguments of a call that is not made, a [`Value`](serde_json::Value) or JSON text. Returns the repairs
    /// that the call would make.
    ///
    /// The arguments are decoded as those of a call. Nothing else happens: no policy, limit, provider or handler runs, no
    /// user is asked, and nothing is recorded. [`Call::dry_run`](crate::Call::dry_run) does more of what a call does.
    ///
    /// ```standalone_crate
    /// use serde_json::json;
    /// use tool_runtime::{Dispatcher, ErrorKind, tool};
    ///
    /// /// Set the volume.
    /// #[tool]
    /// fn set_volume(#[arg(max = 10)] level: u8) {}
    ///
    /// let tools = Dispatcher::builder().build()?;
    /// assert!(tools.validate("set_volume", json!({"level": 7}))?.is_empty());
    /// assert_eq!(tools.validate("set_volume", r#"{"level": "7"}"#)?[0].path, "level");
    ///
    /// let error = tools.validate("set_volume", json!({"level": 11})).unwrap_err();
    /// assert_eq!((error.kind, error.arguments[0].path.as_str()), (ErrorKind::InvalidArguments, "level"));
    /// assert_eq!(tools.validate("set_volum", "{}").unwrap_err().kind, ErrorKind::UnknownTool);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the error of the call: no such tool, arguments that are too long, or invalid arguments, all of them.
    pub fn validate(&self, name: &str, arguments: impl Display) -> Result<Vec<Repair>, ToolError> {
        let call = ToolCall::from_text(name, arguments.to_string());
        let limits = &self.inner.limits;
        self.with_snapshot(|snapshot| {
            let Some(tool) = snapshot.find(name) else { return Err(snapshot.unknown_tool(name)) };
            if call.arguments.len() > limits.argument_bytes {
                return Err(arguments_too_long(&call, limits.argument_bytes));
            }
            let mut repaired = None;
            let schemas = tool.schemas();
            let (allow_unknown, repair) = (limits.allow_unknown, limits.repair);
            let reader = ArgumentReader { text: &call.arguments, schemas, allow_unknown, repair };
            let purpose = InvocationPurpose::Call { tool: &tool.name, reader, repaired: &mut repaired };
            // Without inputs, no handler starts: the step that would start it is dropped.
            match panics::catch(|| tool.invoke(Invocation { purpose, ready: None })) {
                Ok(HandlerStep::Refused(error)) => Err(*error),
                Ok(step) => {
                    panics::drop_quietly(step);
                    let alias = (*tool.name != *name).then(|| Repair::tool_alias(name, &tool.name));
                    Ok(alias.into_iter().chain(repaired.into_iter().flat_map(|repaired| repaired.repairs)).collect())
                }
                Err(panic) => Err(HandlerFailure::panicked(panic).into_tool_error(&tool.name, None)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use crate::{Dispatcher, RuntimeTool};

    #[derive(Deserialize, JsonSchema)]
    struct PanicsOnDrop {
        name: String,
    }

    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            panic!("{} is dropped", self.name);
        }
    }

    #[test]
    fn survives_arguments_that_panic_when_they_are_dropped() {
        let tool = RuntimeTool::new("t", "", |argument: PanicsOnDrop| async move { std::mem::forget(argument) });
        let tools = Dispatcher::builder().allow_empty().tool(tool).build().unwrap();
        assert!(tools.validate("t", r#"{"name": "a"}"#).unwrap().is_empty());
        assert!(tools.validate("t", r#"{"name": 1.5}"#).is_err(), "a control");
    }
}
