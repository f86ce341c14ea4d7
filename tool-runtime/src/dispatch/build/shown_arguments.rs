//! Arguments under the names that a selection gives them.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tool_model::ToolDefinition;

use super::bound_tool::BoundTool;
use crate::arguments::ArgumentSchemas;

/// The arguments of a tool as a model sees them. Everything behind the reading of a call uses their own names.
pub(crate) struct ShownArguments {
    /// The changed names, by the arguments' own names.
    pub(super) names: BTreeMap<String, String>,
    /// The definition for models.
    pub(super) definition: Arc<ToolDefinition>,
    pub(super) own_schemas: OnceLock<ArgumentSchemas>,
}

impl ShownArguments {
    /// Renames arguments of a tool, which may have changed names already. An alias that is now a name is dropped.
    pub(super) fn new(tool: &BoundTool, renamed: &BTreeMap<String, String>) -> Self {
        let before = tool.shown_arguments();
        let mut definition = ToolDefinition::clone(tool.shown_definition());
        let arguments = std::mem::take(&mut definition.arguments);
        let new_name = |name: String| renamed.get(&name).cloned().unwrap_or(name);
        definition.arguments = arguments.into_iter().map(|(name, argument)| (new_name(name), argument)).collect();
        definition.aliases.retain(|alias| **alias != *tool.name);
        let shown_names: Vec<String> = definition.arguments.keys().cloned().collect();
        for argument in definition.arguments.values_mut() {
            argument.aliases.retain(|alias| !shown_names.contains(alias));
        }
        let names = tool.definition().arguments.keys().filter_map(|own| {
            let shown = before.and_then(|before| before.names.get(own)).unwrap_or(own);
            let shown = renamed.get(shown).unwrap_or(shown);
            (shown != own).then(|| (own.clone(), shown.clone()))
        });
        Self { names: names.collect(), definition: Arc::new(definition), own_schemas: OnceLock::new() }
    }

    /// Returns arguments that a model has sent, under their own names. Unknown keys are dropped: one of them may be the
    /// own name of an argument, whose value would then be shown in place of the value that runs.
    pub(crate) fn to_own(&self, arguments: Value) -> Value {
        let own_name = |shown: &String| self.names.iter().find(|(_, name)| *name == shown).map(|(own, _)| own);
        rename(arguments, |name| {
            let known = self.definition.arguments.contains_key(&name);
            known.then(|| own_name(&name).cloned().unwrap_or(name))
        })
    }

    /// Returns arguments under the names that a model sees.
    pub(crate) fn to_shown(&self, arguments: Value) -> Value {
        rename(arguments, |name| Some(self.names.get(&name).cloned().unwrap_or(name)))
    }
}

/// Renames the keys of an object. A key without a new name is dropped.
fn rename(arguments: Value, new_name: impl Fn(String) -> Option<String>) -> Value {
    match arguments {
        Value::Object(arguments) => {
            Value::Object(arguments.into_iter().filter_map(|(name, value)| Some((new_name(name)?, value))).collect())
        }
        other => other,
    }
}
