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

use super::read::{Problem, Reader, read};
use super::Decode;

/// Arguments that were mended.
pub(crate) struct Repaired {
    /// The arguments that run, as JSON.
    #[cfg_attr(not(test), expect(dead_code, reason = "what a confirmation and a journal show"))]
    pub(crate) text: String,
    /// What was mended.
    pub(crate) repairs: Vec<Repair>,
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
    let mut again = |text: &str| {
        slots.iter_mut().for_each(|slot| slot.clear());
        read(&Reader { text, ..*reader }, slots)
    };
    attempt(reader, &problems, &mut again).ok_or(problems)
}

/// First the text as a whole, so that it is JSON and an object; then each argument that is wrong in it.
fn attempt(
    reader: &Reader<'_>,
    problems: &[Problem],
    again: &mut dyn FnMut(&str) -> Result<(), Vec<Problem>>,
) -> Option<Repaired> {
    let definition = reader.schemas.definition();
    let mut notes = Notes::new(definition);
    let mut arguments = unwrap_arguments(reader.text, &mut notes)?;
    let mut text = write_object(&arguments);
    let wrong = if notes.is_empty() {
        self::wrong(reader, problems)?
    } else {
        match again(&text) {
            Ok(()) => return Some(Repaired { text, repairs: notes.into_repairs() }),
            Err(problems) => self::wrong(reader, &problems)?,
        }
    };
    mend_arguments(&mut arguments, &wrong, definition, &mut notes);
    text = write_object(&arguments);
    again(&text).ok()?;
    Some(Repaired { text, repairs: notes.into_repairs() })
}

/// The arguments with a wrong value; nothing, if something else is wrong, too, that cannot be mended.
fn wrong<'a>(reader: &'a Reader<'_>, problems: &[Problem]) -> Option<Vec<&'a str>> {
    let name = |problem: &Problem| match problem {
        Problem::Invalid { index, .. } | Problem::Refused { index, .. } => {
            reader.schemas.arguments.get(*index).map(|argument| argument.name)
        }
        _ => None,
    };
    problems.iter().map(name).collect()
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
