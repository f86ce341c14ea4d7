//! Decoding of arguments on the guarded path: into a value to show and record, and into the prepared handler.

use serde_json::Value;

use super::GuardedCall;
use crate::arguments::{ArgumentReader, ArgumentSchemas, RepairedArguments, are_exact};
use crate::confirm::Question;
use crate::handler_failure::HandlerFailure;
use crate::journal::JournalDecision;
use crate::panics;
use crate::shim::{HandlerStep, Invocation, InvocationPurpose, PreparedHandler};
use crate::{ErrorKind, ToolResult};

const CHANGED_SINCE: &str = "was not run: it has changed since it was approved, and must be approved again";

/// Decoded arguments, as a value to show and record.
pub(super) struct DecodedArguments {
    pub(super) arguments: Value,
    /// The names of omitted arguments that `arguments` holds with their defaults.
    pub(super) defaults: Vec<String>,
    pub(super) repaired: Option<Box<RepairedArguments>>,
}

impl GuardedCall {
    /// Decodes the arguments that a user has approved, if the tool is still the one that the question was about.
    pub(super) async fn decode_approved(
        &self,
        question: &Question,
    ) -> Result<(PreparedHandler, DecodedArguments), Box<ToolResult>> {
        if question.registered != *self.tool.own_name || !question.is_about(self.tool.definition()) {
            self.note_entry(self.approved_entry(question), JournalDecision::ChangedSinceAsked).await?;
            return Err(self.failure(ErrorKind::Refused, CHANGED_SINCE.to_owned()));
        }
        match self.decode_own(&self.call.arguments) {
            Err(result) => {
                self.note_entry(self.approved_entry(question), JournalDecision::WrongEdit).await?;
                Err(blame_edit(result))
            }
            decoded => decoded,
        }
    }

    /// Decodes the arguments of a model, and repairs them if that is necessary and allowed.
    pub(super) fn decode(
        &self,
        text: &str,
        repair: bool,
    ) -> Result<(PreparedHandler, DecodedArguments), Box<ToolResult>> {
        self.decode_with(self.tool.schemas(), text, repair, |arguments| match self.tool.shown_arguments() {
            None => arguments,
            Some(shown) => shown.to_own(arguments),
        })
    }

    /// Decodes arguments that a user has seen, under their own names.
    pub(super) fn decode_own(&self, text: &str) -> Result<(PreparedHandler, DecodedArguments), Box<ToolResult>> {
        self.decode_with(self.tool.own_schemas(), text, false, |arguments| arguments)
    }

    fn decode_with(
        &self,
        schemas: &ArgumentSchemas,
        text: &str,
        repair: bool,
        to_own: impl FnOnce(Value) -> Value,
    ) -> Result<(PreparedHandler, DecodedArguments), Box<ToolResult>> {
        let (mut handler, repaired) = self.prepare_handler(schemas, text, repair)?;
        let text = repaired.as_ref().map_or(text, |repaired| repaired.text.as_str());
        let are_inspected = self.are_arguments_inspected();
        let mut arguments: Value = match text.trim() {
            "" => Value::Object(serde_json::Map::new()),
            text => match serde_json::from_str(text) {
                Ok(arguments) => arguments,
                // The argument reader skips text that a `Value` cannot hold. A user could not be shown what runs.
                Err(error) if are_inspected => {
                    let message = format!("was not run: its arguments cannot be shown: {error}");
                    return Err(self.failure(ErrorKind::InvalidArguments, message));
                }
                Err(_) => Value::Null,
            },
        };
        arguments = to_own(arguments);
        // A `Value` may round a number, and defaults fill in omitted arguments. What is shown and recorded must also
        // run, so the handler is prepared again.
        let defaults = if are_inspected { self.fill_in_defaults(&mut arguments) } else { Vec::new() };
        if are_inspected && (!defaults.is_empty() || !are_exact(text)) {
            panics::drop_quietly(handler);
            (handler, _) =
                self.prepare_handler(self.tool.own_schemas(), &arguments.to_string(), false).map_err(|_| {
                    let message =
                        "was not run: a number in its arguments has more digits than can be shown and recorded";
                    self.failure(ErrorKind::InvalidArguments, message.to_owned())
                })?;
        }
        Ok((handler, DecodedArguments { arguments, defaults, repaired }))
    }

    /// Fills in the defaults of omitted arguments. Returns the names of these arguments.
    fn fill_in_defaults(&self, arguments: &mut Value) -> Vec<String> {
        let Value::Object(arguments) = arguments else { return Vec::new() };
        let mut filled = Vec::new();
        for (name, argument) in &self.tool.definition().arguments {
            if let Some(default) = argument.keywords.get("default")
                && !arguments.contains_key(name)
            {
                arguments.insert(name.clone(), default.clone());
                filled.push(name.clone());
            }
        }
        filled
    }

    /// Returns `true` if the arguments are decided upon or recorded. Observation alone must not change what runs.
    fn are_arguments_inspected(&self) -> bool {
        self.dry_run || self.approved.is_some() || self.inner.rules.inspect_arguments(&self.tool)
    }

    /// Decodes the arguments for the handler, which does not run yet. Returns the repairs as well.
    fn prepare_handler(
        &self,
        schemas: &ArgumentSchemas,
        text: &str,
        repair: bool,
    ) -> Result<(PreparedHandler, Option<Box<RepairedArguments>>), Box<ToolResult>> {
        let mut repaired: Option<Box<RepairedArguments>> = None;
        let allow_unknown = self.inner.limits.allow_unknown;
        let reader = ArgumentReader { text, schemas, allow_unknown, repair };
        let purpose = InvocationPurpose::Call { tool: &self.tool.name, reader, repaired: &mut repaired };
        match panics::catch(|| self.tool.invoke(Invocation { purpose, ready: None })) {
            Ok(HandlerStep::Waiting(handler)) => Ok((handler, repaired)),
            // A handler without inputs has not run either: its future is not polled, its function not called.
            Ok(step @ (HandlerStep::Future(_) | HandlerStep::Blocking(_))) => {
                Ok((Box::new(move |_| Ok(step)), repaired))
            }
            Ok(HandlerStep::Refused(error)) => Err(Box::new(ToolResult::failure(*error))),
            Ok(_) => Err(self.failure(ErrorKind::Failed, "could not be prepared".to_owned())),
            Err(panic) => Err(self.not_run(HandlerFailure::panicked(panic))),
        }
    }
}

/// Says that the arguments are those that a user has edited.
pub(super) fn blame_edit(mut result: Box<ToolResult>) -> Box<ToolResult> {
    result.output.insert_str(0, "The edited arguments are invalid. ");
    result
}
