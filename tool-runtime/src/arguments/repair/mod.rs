//! Mends arguments that were refused, where the schema leaves no doubt about what was meant.
//!
//! Only what was refused is touched, and only in ways that lose nothing: the value of a text never changes, nothing is
//! made up. What was mended is read again in full; if anything is still wrong, the call is refused for that, as it came. A
//! call that is right never comes here.

mod choose;
mod convert;
mod loose;
mod mend;
mod note;
mod tree;
mod unwrap;

#[cfg(test)]
mod tests;

use tool_model::ToolDefinition;

use mend::Mender;
use note::Notes;
pub use note::{Repair, RepairReason};
use tree::{Node, write_object};
use unwrap::unwrap_arguments;

use super::Decode;
use super::read::{Problem, Reader, read};
use crate::redact::Redaction;

/// Arguments that were mended.
pub(crate) struct Repaired {
    /// The arguments that run, as JSON.
    pub(crate) text: String,
    /// What was mended.
    pub(crate) repairs: Vec<Repair>,
}

impl Repaired {
    /// What was mended, as the result's metadata has it.
    pub(crate) fn values(&self) -> Vec<serde_json::Value> {
        self.repairs.iter().map(|repair| serde_json::json!(repair)).collect()
    }
}

/// Mends the arguments and fills the slots from them.
///
/// # Errors
/// The problems that there were, if it cannot; without those of arguments that it can mend.
#[cold]
pub(crate) fn repair(
    reader: &Reader<'_>,
    slots: &mut [&mut dyn Decode],
    mut problems: Vec<Problem>,
) -> Result<Repaired, Vec<Problem>> {
    let read_again = |text: &str| {
        slots.iter_mut().for_each(|slot| slot.clear());
        read(&Reader { text, ..*reader }, slots).map_err(|problems| wrong_values(reader, &problems))
    };
    let (schemas, wrong) = (reader.schemas, wrong_values(reader, &problems));
    repaired(reader.text, schemas.definition(), schemas.redaction(), wrong, read_again).map_err(|still_wrong| {
        let stays = |problem: &Problem| wrong_value(reader, problem).is_none_or(|name| still_wrong.contains(&name));
        if problems.iter().any(stays) {
            problems.retain(stays);
        }
        problems
    })
}

/// Returns the name of the argument whose value is wrong, if that is the problem.
fn wrong_value<'a>(reader: &Reader<'a>, problem: &Problem) -> Option<&'a str> {
    match problem {
        Problem::Invalid { index, .. } | Problem::Refused { index, .. } => {
            reader.schemas.arguments.get(*index).map(|argument| &*argument.name)
        }
        _ => None,
    }
}

fn wrong_values<'a>(reader: &Reader<'a>, problems: &[Problem]) -> Vec<&'a str> {
    problems.iter().filter_map(|problem| wrong_value(reader, problem)).collect()
}

/// First the text as a whole, so that it is JSON and an object; then each argument that is wrong in it. `read` gives the
/// names of the arguments with a wrong value, and so does the error.
fn repaired<'a>(
    text: &str,
    definition: &ToolDefinition,
    redaction: &Redaction,
    mut wrong: Vec<&'a str>,
    mut read: impl FnMut(&str) -> Result<(), Vec<&'a str>>,
) -> Result<Repaired, Vec<&'a str>> {
    let mut notes = Notes::new(redaction);
    let Some(mut arguments) = unwrap_arguments(text, &mut notes) else { return Err(wrong) };
    if !notes.is_empty() {
        let text = write_object(&arguments);
        match read(&text) {
            Ok(()) => return Ok(Repaired { text, repairs: notes.into_repairs() }),
            Err(still_wrong) => wrong = still_wrong,
        }
    }
    mend_arguments(&mut arguments, &wrong, definition, &mut notes);
    let text = write_object(&arguments);
    read(&text)?;
    Ok(Repaired { text, repairs: notes.into_repairs() })
}

/// Mends the arguments of these names.
fn mend_arguments(
    arguments: &mut Vec<(String, Node)>,
    wrong: &[&str],
    definition: &ToolDefinition,
    notes: &mut Notes<'_>,
) {
    arguments.retain_mut(|(name, node)| {
        let Some(argument) = definition.arguments.get(name).filter(|_| wrong.contains(&name.as_str())) else {
            return true;
        };
        let is_left_out = *node == Node::Null && !argument.required;
        if is_left_out {
            notes.add(name, "null", "", RepairReason::Null);
        } else {
            Mender::new(&definition.defs, notes).mend_argument(node, &argument.schema(), name);
        }
        !is_left_out
    });
}
