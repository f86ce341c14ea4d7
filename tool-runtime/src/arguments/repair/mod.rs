//! Mends arguments that were refused, where the schema leaves no doubt about what was meant.
//!
//! Only what was refused is touched, and only in ways that lose nothing: the value of a text never changes, nothing is
//! made up. What was mended is read again in full; if anything is still wrong, the call is refused for what was wrong
//! in the first place. A call that is right never comes here.

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
/// The problems that there were, if it cannot.
#[cold]
pub(crate) fn repair(
    reader: &Reader<'_>,
    slots: &mut [&mut dyn Decode],
    problems: Vec<Problem>,
) -> Result<Repaired, Vec<Problem>> {
    let read_again = |text: &str| {
        slots.iter_mut().for_each(|slot| slot.clear());
        read(&Reader { text, ..*reader }, slots).map_err(|problems| wrong_values(reader, &problems))
    };
    let (schemas, wrong) = (reader.schemas, wrong_values(reader, &problems));
    repaired(reader.text, schemas.definition(), schemas.redaction(), wrong, read_again).ok_or(problems)
}

/// The arguments with a wrong value; nothing, if something else is wrong, too.
type Wrong<'a> = Option<Vec<&'a str>>;

fn wrong_values<'a>(reader: &Reader<'a>, problems: &[Problem]) -> Wrong<'a> {
    let argument = |problem: &Problem| match problem {
        Problem::Invalid { index, .. } | Problem::Refused { index, .. } => {
            reader.schemas.arguments.get(*index).map(|argument| &*argument.name)
        }
        _ => None,
    };
    problems.iter().map(argument).collect()
}

/// First the text as a whole, so that it is JSON and an object; then each argument that is wrong in it.
fn repaired<'a>(
    text: &str,
    definition: &ToolDefinition,
    redaction: &Redaction,
    mut wrong: Wrong<'a>,
    mut read: impl FnMut(&str) -> Result<(), Wrong<'a>>,
) -> Option<Repaired> {
    let mut notes = Notes::new(redaction);
    let mut arguments = unwrap_arguments(text, &mut notes)?;
    if !notes.is_empty() {
        let text = write_object(&arguments);
        match read(&text) {
            Ok(()) => return Some(Repaired { text, repairs: notes.into_repairs() }),
            Err(still_wrong) => wrong = still_wrong,
        }
    }
    mend_arguments(&mut arguments, &wrong?, definition, &mut notes);
    let text = write_object(&arguments);
    read(&text).ok()?;
    Some(Repaired { text, repairs: notes.into_repairs() })
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
