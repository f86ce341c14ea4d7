//! Arguments on the careful way: as a value that is shown and recorded, and in the form in which the handler gets them.

use serde_json::Value;

use super::GuardedCall;
use crate::arguments::{Reader, Repaired, are_exact};
use crate::confirm::Question;
use crate::journal::JournalDecision;
use crate::panics;
use crate::shim::{Invocation, InvocationPurpose, PreparedHandler, Step};
use crate::{ErrorKind, ToolResult};

/// What is recorded of arguments that somebody has put in the place of others, and that the tool does not take.

const CHANGED_SINCE: &str = "was not run: it has changed since somebody gave consent to it, who should be asked again";

/// Arguments that were read, as a value to be shown.
pub(crate) struct DecodedArguments {
    pub(crate) arguments: Value,
    /// The arguments that were left out and are in there with their defaults.
    pub(crate) defaults: Vec<String>,
    pub(crate) repaired: Option<Box<Repaired>>,
}

impl GuardedCall {
    /// Reads the arguments that somebody has given consent to, if it is still the tool that they were asked about.
    pub(crate) async fn read_approved(
        &self,
        question: &Question,
    ) -> Result<(PreparedHandler, DecodedArguments), Box<ToolResult>> {
        let asked = || self.asked(question);
        if question.registered != *self.tool.own_name || !question.is_about(self.tool.definition()) {
            self.note_that(asked(), JournalDecision::ChangedSinceAsked).await?;
            return Err(self.failure(ErrorKind::Refused, CHANGED_SINCE.to_owned()));
        }
        match self.read(&self.call.arguments, false) {
            Err(result) => {
                self.note_that(asked(), JournalDecision::WrongEdit).await?;
                Err(of_an_edit(result))
            }
            read => read,
        }
    }

    /// Reads arguments, mended if they need it and may be.
    pub(crate) fn read(
        &self,
        text: &str,
        repair: bool,
    ) -> Result<(PreparedHandler, DecodedArguments), Box<ToolResult>> {
        let (mut waiting, repaired) = self.decode(text, repair)?;
        let text = repaired.as_ref().map_or(text, |repaired| repaired.text.as_str());
        let is_looked_at = self.is_looked_at();
        let mut arguments: Value = match text.trim() {
            "" => Value::Object(serde_json::Map::new()),
            text => match serde_json::from_str(text) {
                Ok(arguments) => arguments,
                // What the reader passes over, a value may not be able to hold: then nobody could be shown what runs.
                Err(error) if is_looked_at => {
                    let message = format!("was not run: its arguments cannot be shown to anybody: {error}");
                    return Err(self.failure(ErrorKind::InvalidArguments, message));
                }
                Err(_) => Value::Null,
            },
        };
        // What a value makes of a number, and what stands for what was left out, is shown and recorded. So it also runs.
        let defaults = if is_looked_at { self.fill_in_defaults(&mut arguments) } else { Vec::new() };
        if is_looked_at && (!defaults.is_empty() || !are_exact(text)) {
            panics::drop_quietly(waiting);
            (waiting, _) = self.decode(&arguments.to_string(), false).map_err(|_| {
                let message = "was not run: a number in its arguments has more digits than can be shown and recorded";
                self.failure(ErrorKind::InvalidArguments, message.to_owned())
            })?;
        }
        Ok((waiting, DecodedArguments { arguments, defaults, repaired }))
    }

    /// Fills in what was left out and has a default. Returns the names of those arguments.
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

    /// Whether anything hangs on the arguments as they are shown. Whoever only watches must not change what runs.
    fn is_looked_at(&self) -> bool {
        self.dry_run || self.approved.is_some() || self.inner.rules.look_at_arguments(&self.tool)
    }

    /// The arguments in the form in which the handler gets them, waiting for it, and what was mended in them.
    fn decode(&self, text: &str, repair: bool) -> Result<(PreparedHandler, Option<Box<Repaired>>), Box<ToolResult>> {
        let mut repaired: Option<Box<Repaired>> = None;
        let allow_unknown = self.inner.limits.allow_unknown;
        let reader = Reader { text, schemas: self.tool.schemas(), allow_unknown, repair };
        let purpose = InvocationPurpose::Call { tool: &self.tool.name, reader, repaired: &mut repaired };
        match panics::catch(|| self.tool.invoke(Invocation { purpose, ready: None })) {
            Ok(Step::Waiting(waiting)) => Ok((waiting, repaired)),
            // What needs no inputs does nothing yet either: a future that was not polled, a function that was not run.
            Ok(step @ (Step::Future(_) | Step::Blocking(_))) => Ok((Box::new(move |_| Ok(step)), repaired)),
            Ok(Step::Refused(error)) => Err(Box::new(ToolResult::failure(*error))),
            Ok(_) => Err(self.failure(ErrorKind::Failed, "could not be prepared".to_owned())),
            Err(panic) => Err(self.failure(ErrorKind::Panicked, format!("panicked: {panic}"))),
        }
    }
}

/// The person who edited the arguments should know that it was that.
pub(crate) fn of_an_edit(mut result: Box<ToolResult>) -> Box<ToolResult> {
    result.output.insert_str(0, "The edited arguments are wrong. ");
    result
}
