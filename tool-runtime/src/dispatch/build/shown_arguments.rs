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
    /// Renames arguments of a tool, which may have changed names already.
    pub(super) fn new(tool: &BoundTool, renamed: &BTreeMap<String, String>) -> Self {
        let before = tool.shown_arguments();
        let mut definition = ToolDefinition::clone(tool.shown_definition());
        let arguments = std::mem::take(&mut definition.arguments);
        let new_name = |name: String| renamed.get(&name).cloned().unwrap_or(name);
        definition.arguments = arguments.into_iter().map(|(name, argument)| (new_name(name), argument)).collect();
        let names = tool.definition().arguments.keys().filter_map(|own| {
            let shown = before.and_then(|before| before.names.get(own)).unwrap_or(own);
            let shown = renamed.get(shown).unwrap_or(shown);
            (shown != own).then(|| (own.clone(), shown.clone()))
        });
        Self { names: names.collect(), definition: Arc::new(definition), own_schemas: OnceLock::new() }
    }

    /// Returns arguments that a model has sent, under their own names.
    pub(crate) fn to_own(&self, arguments: Value) -> Value {
        rename(arguments, |name| self.names.iter().find(|(_, shown)| *shown == name).map(|(own, _)| own))
    }

    /// Returns arguments under the names that a model sees.
    pub(crate) fn to_shown(&self, arguments: Value) -> Value {
        rename(arguments, |name| self.names.get(name))
    }
}

fn rename<'a>(arguments: Value, new_name: impl Fn(&str) -> Option<&'a String>) -> Value {
    match arguments {
        Value::Object(arguments) => {
            let renamed = arguments.into_iter().map(|(name, value)| (new_name(&name).cloned().unwrap_or(name), value));
            Value::Object(renamed.collect())
        }
        other => other,
    }
}
