//! Checks that the types and schemas of a tool enforce its definition, before the first call.

use std::sync::{Arc, OnceLock};

use tool_model::{ArgumentProblem, ArgumentSpec, ArgumentType, Registration, ToolDefinition, TypeSchema};

use super::problem::BuildProblem;
use crate::arguments::{ArgumentReader, ArgumentSchemas};
use crate::shim::Shim;

/// The result of [`check_definition`].
#[derive(Default)]
pub(super) struct CheckedDefinition {
    /// The schemas for the calls, if they were computed.
    pub(super) schemas: Option<ArgumentSchemas>,
    /// `true` if the schema of an argument is traced.
    pub(super) has_traced_arguments: bool,
}

/// Reports everything in the definition that types and schemas do not enforce.
pub(super) fn check_definition(
    registration: &'static Registration,
    shim: &Shim,
    definition: &OnceLock<Arc<ToolDefinition>>,
    problems: &mut Vec<BuildProblem>,
) -> CheckedDefinition {
    let has_details = has_details(registration);
    let types = registration.call.types();
    if !has_details && types.are_scalar() {
        return CheckedDefinition::default();
    }
    let is_traced = |ty: &ArgumentType| matches!(ty.schema, Some(TypeSchema::Traced(_)));
    let has_traced_arguments = types.arguments.iter().any(is_traced);
    let definition = definition.get_or_init(|| Arc::new(registration.definition()));
    let mut report = |found: Vec<ArgumentProblem>| {
        let of_tool = |found: ArgumentProblem| BuildProblem::of_tool(registration.name, found.message, found.remedy);
        problems.extend(found.into_iter().map(of_tool));
    };
    report(definition.schema_problems());
    if !has_details {
        return CheckedDefinition { schemas: None, has_traced_arguments };
    }
    registration.arguments.iter().for_each(|spec| report(definition.rule_problems(spec.name, spec.details.rules)));
    let schemas = ArgumentSchemas::new(registration, definition.clone());
    for (index, wrong) in
        shim.try_settings(ArgumentReader { text: "{}", schemas: &schemas, allow_unknown: false, repair: false })
    {
        let message = format!("the argument `{}`: {wrong}", registration.arguments[index].name);
        problems.push(BuildProblem::of_tool(registration.name, message, "give values that its type reads"));
    }
    CheckedDefinition { schemas: Some(schemas), has_traced_arguments }
}

/// Returns `true` if the source declares more about the arguments than their types do.
fn has_details(registration: &Registration) -> bool {
    let has_details = |spec: &ArgumentSpec| {
        let details = spec.details;
        details.default.is_some() || details.or_default || !details.rules.is_empty()
    };
    registration.options.explicit.is_some() || registration.arguments.iter().any(has_details)
}
