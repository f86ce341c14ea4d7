//! Replacement of aliases by the names of their arguments.

use tool_model::ToolDefinition;

use super::super::Decode;
use super::super::read::{ArgumentProblem, ArgumentReader, read};
use super::json_node::JsonNode;
use super::repair_log::{Repair, RepairLog};

/// The result of [`replace_aliases`].
pub(super) enum AliasOutcome {
    /// No alias was replaced.
    Unchanged(Vec<ArgumentProblem>),
    /// The arguments with their names, and the problems that are left.
    Replaced { text: String, repairs: Vec<Repair>, problems: Vec<ArgumentProblem> },
}

/// Replaces the aliases that the reader has found and reads the arguments again. An argument that was sent under two
/// names stays a problem.
pub(super) fn replace_aliases(
    reader: &ArgumentReader<'_>,
    slots: &mut [&mut dyn Decode],
    mut problems: Vec<ArgumentProblem>,
) -> AliasOutcome {
    let is_alias = |problem: &ArgumentProblem| matches!(problem, ArgumentProblem::Alias { .. });
    if !problems.iter().any(is_alias) {
        return AliasOutcome::Unchanged(problems);
    }
    // Aliases in text that is not JSON are replaced once the text is repaired.
    if problems.iter().any(|problem| matches!(problem, ArgumentProblem::Malformed(_))) {
        problems.retain(|problem| !is_alias(problem));
        return AliasOutcome::Unchanged(problems);
    }
    let mut log = RepairLog::new(reader.schemas.redaction());
    let (mut text, mut copied) = (String::with_capacity(reader.text.len()), 0);
    for problem in &problems {
        let ArgumentProblem::Alias { alias, index, start, end } = problem else { continue };
        let Some(argument) = reader.schemas.arguments.get(*index) else { continue };
        text.push_str(&reader.text[copied..*start]);
        text.push_str(&serde_json::Value::from(&*argument.name).to_string());
        copied = *end;
        log.add_alias(&argument.name, alias);
    }
    text.push_str(&reader.text[copied..]);
    slots.iter_mut().for_each(|slot| slot.clear());
    let left = read(&ArgumentReader { text: &text, ..*reader }, slots).err().unwrap_or_default();
    let is_sent_twice =
        |index: &usize| left.iter().any(|other| matches!(other, ArgumentProblem::Duplicate(at) if at == index));
    if problems.iter().any(|problem| matches!(problem, ArgumentProblem::Alias { index, .. } if is_sent_twice(index))) {
        problems.retain(|problem| match problem {
            ArgumentProblem::Alias { index, .. } => is_sent_twice(index),
            _ => true,
        });
        return AliasOutcome::Unchanged(problems);
    }
    AliasOutcome::Replaced { text, repairs: log.into_repairs(), problems: left }
}

/// Renames the keys of parsed arguments that are aliases, unless another name of the same argument is there too.
pub(super) fn rename_keys(arguments: &mut [(String, JsonNode)], definition: &ToolDefinition, log: &mut RepairLog<'_>) {
    let name_of = |key: &str| {
        let aliased =
            || definition.arguments.iter().find(|(_, argument)| argument.aliases.iter().any(|alias| alias == key));
        definition.arguments.get_key_value(key).or_else(aliased).map(|(name, _)| name)
    };
    let names: Vec<Option<&String>> = arguments.iter().map(|(key, _)| name_of(key)).collect();
    for (index, (key, _)) in arguments.iter_mut().enumerate() {
        let Some(name) = names[index].filter(|name| *name != key) else { continue };
        if names.iter().filter(|other| **other == Some(name)).count() == 1 {
            log.add_alias(name, key);
            key.clone_from(name);
        }
    }
}
