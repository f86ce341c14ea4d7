//! Repair of invalid arguments, where the schema leaves no doubt about the intended value.
//!
//! Only invalid values are changed, and only without loss: the value of a string never changes, nothing is invented, and
//! an item is removed only from a set that has it twice.
//! Repaired arguments are read again in full. If a problem is left, the call is refused for its original arguments. Valid
//! calls never get here.
//!
//! Aliases are replaced first, also where repair is off: they are declared, not guessed.

mod aliases;
mod choose;
mod convert;
mod json_node;
mod loose_json;
mod repair_log;
mod repairer;
mod unwrap;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use tool_model::ToolDefinition;

use aliases::{AliasOutcome, replace_aliases};

use json_node::{JsonNode, write_object};
use repair_log::RepairLog;
pub use repair_log::{Repair, RepairReason};
use repairer::ValueRepairer;
use unwrap::unwrap_arguments;

use super::Decode;
use super::read::{ArgumentProblem, ArgumentReader, read};
use crate::redact::Redaction;

/// Arguments after their repair.
pub(crate) struct RepairedArguments {
    /// The repaired arguments, as JSON.
    pub(crate) text: String,
    /// The repairs.
    pub(crate) repairs: Vec<Repair>,
}

impl RepairedArguments {
    /// Returns the repairs as JSON, for the result's metadata.
    pub(crate) fn values(&self) -> Vec<serde_json::Value> {
        self.repairs.iter().map(|repair| serde_json::json!(repair)).collect()
    }
}

/// Arguments that are refused.
pub(crate) struct RefusedArguments<'a> {
    /// The text that the problems are about.
    pub(crate) text: Cow<'a, str>,
    pub(crate) problems: Vec<ArgumentProblem>,
}

/// Replaces aliases, repairs the arguments if that is allowed, and fills the slots from them.
///
/// # Errors
/// Returns the original problems if that is impossible, except for arguments that could be repaired.
#[cold]
pub(crate) fn repair<'a>(
    reader: &ArgumentReader<'a>,
    slots: &mut [&mut dyn Decode],
    problems: Vec<ArgumentProblem>,
) -> Result<RepairedArguments, RefusedArguments<'a>> {
    match replace_aliases(reader, slots, problems) {
        AliasOutcome::Unchanged(problems) => repair_values(reader, slots, problems, Vec::new())
            .map_err(|problems| RefusedArguments { text: Cow::Borrowed(reader.text), problems }),
        AliasOutcome::Replaced { text, repairs, problems } if problems.is_empty() => {
            Ok(RepairedArguments { text, repairs })
        }
        AliasOutcome::Replaced { text, repairs, problems } => {
            repair_values(&ArgumentReader { text: &text, ..*reader }, slots, problems, repairs)
                .map_err(|problems| RefusedArguments { text: Cow::Owned(text), problems })
        }
    }
}

/// Repairs the values of the arguments if that is allowed. `earlier` are the repairs so far.
fn repair_values(
    reader: &ArgumentReader<'_>,
    slots: &mut [&mut dyn Decode],
    mut problems: Vec<ArgumentProblem>,
    earlier: Vec<Repair>,
) -> Result<RepairedArguments, Vec<ArgumentProblem>> {
    if !reader.schemas.may_repair(reader.repair) {
        return Err(problems);
    }
    let read_again = |text: &str| {
        slots.iter_mut().for_each(|slot| slot.clear());
        read(&ArgumentReader { text, ..*reader }, slots).map_err(|problems| wrong_values(reader, &problems))
    };
    let (schemas, wrong) = (reader.schemas, wrong_values(reader, &problems));
    let repaired = repaired(reader.text, schemas.definition(), schemas.redaction(), wrong, read_again);
    let repaired = repaired.map(|RepairedArguments { text, repairs }| RepairedArguments {
        text,
        repairs: earlier.into_iter().chain(repairs).collect(),
    });
    repaired.map_err(|still_wrong| {
        let stays =
            |problem: &ArgumentProblem| wrong_value(reader, problem).is_none_or(|name| still_wrong.contains(&name));
        if problems.iter().any(stays) {
            problems.retain(stays);
        }
        problems
    })
}

/// Returns the argument whose value is the problem, if a value is.
fn wrong_value<'a>(reader: &ArgumentReader<'a>, problem: &ArgumentProblem) -> Option<&'a str> {
    match problem {
        ArgumentProblem::Invalid { index, .. } | ArgumentProblem::Refused { index, .. } => {
            reader.schemas.arguments.get(*index).map(|argument| &*argument.name)
        }
        _ => None,
    }
}

fn wrong_values<'a>(reader: &ArgumentReader<'a>, problems: &[ArgumentProblem]) -> Vec<&'a str> {
    problems.iter().filter_map(|problem| wrong_value(reader, problem)).collect()
}

/// Repairs the text as a whole until it is a JSON object, then each invalid argument. `read` returns the names of the
/// arguments with an invalid value, and so does the error.
fn repaired<'a>(
    text: &str,
    definition: &ToolDefinition,
    redaction: &Redaction,
    mut wrong: Vec<&'a str>,
    mut read: impl FnMut(&str) -> Result<(), Vec<&'a str>>,
) -> Result<RepairedArguments, Vec<&'a str>> {
    let mut log = RepairLog::new(redaction);
    let Some(mut arguments) = unwrap_arguments(text, &mut log) else { return Err(wrong) };
    if !log.is_empty() {
        aliases::rename_keys(&mut arguments, definition, &mut log);
        let text = write_object(&arguments);
        match read(&text) {
            Ok(()) => return Ok(RepairedArguments { text, repairs: log.into_repairs() }),
            Err(still_wrong) => wrong = still_wrong,
        }
    }
    repair_arguments(&mut arguments, &wrong, definition, &mut log);
    let text = write_object(&arguments);
    read(&text)?;
    Ok(RepairedArguments { text, repairs: log.into_repairs() })
}

/// Repairs the arguments of these names.
fn repair_arguments(
    arguments: &mut Vec<(String, JsonNode)>,
    wrong: &[&str],
    definition: &ToolDefinition,
    log: &mut RepairLog<'_>,
) {
    arguments.retain_mut(|(name, node)| {
        let Some(argument) = definition.arguments.get(name).filter(|_| wrong.contains(&name.as_str())) else {
            return true;
        };
        let is_left_out = *node == JsonNode::Null && !argument.required;
        if is_left_out {
            log.add(name, "null", "", RepairReason::Null);
        } else {
            ValueRepairer::new(&definition.defs, log).repair_argument(node, &argument.schema(), name);
        }
        !is_left_out
    });
}
