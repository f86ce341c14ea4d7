//! Checks that the types and schemas of a tool enforce its definition, before the first call.

use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tool_model::validate::{Validator, is_plain};
use tool_model::{Argument, ArgumentSpec, Registration, Rule, ToolDefinition};

use super::problem::BuildProblem;
use crate::arguments::{ArgumentError, ArgumentReader, ArgumentSchemas};
use crate::shim::Shim;

/// Reports everything in the definition that types and schemas do not enforce. Returns the schemas, if they were
/// computed, for the calls.
pub(super) fn check_definition(
    registration: &'static Registration,
    shim: &Shim,
    definition: &OnceLock<Arc<ToolDefinition>>,
    problems: &mut Vec<BuildProblem>,
) -> Option<ArgumentSchemas> {
    let has_details = has_details(registration);
    if !has_details && registration.call.types().are_scalar() {
        return None;
    }
    let definition = definition.get_or_init(|| Arc::new(registration.definition()));
    check_schemas(registration, definition, problems);
    if !has_details {
        return None;
    }
    check_rules(registration, definition, problems);
    let schemas = ArgumentSchemas::new(registration, definition.clone());
    for (index, wrong) in
        shim.try_absent(ArgumentReader { text: "{}", schemas: &schemas, allow_unknown: false, repair: false })
    {
        let message = format!("the argument `{}`: {wrong}", registration.arguments[index].name);
        problems.push(BuildProblem::of_tool(registration.name, message, "give it a default that its type reads"));
    }
    Some(schemas)
}

/// Returns `true` if the source declares more about the arguments than their types do.
fn has_details(registration: &Registration) -> bool {
    let has_details = |spec: &ArgumentSpec| {
        let details = spec.details;
        details.default.is_some() || details.or_default || !details.rules.is_empty()
    };
    registration.options.explicit.is_some() || registration.arguments.iter().any(has_details)
}

/// Rejects rules that do not apply to the type of the argument: the model would read them, and they would have no effect.
fn check_rules(registration: &Registration, definition: &ToolDefinition, problems: &mut Vec<BuildProblem>) {
    for spec in registration.arguments {
        let Some(argument) = definition.arguments.get(spec.name) else { continue };
        for rule in spec.details.rules.iter().filter(|rule| !rule.fits(&argument.type_name)) {
            let message = format!(
                "`{}` of `{}` says nothing about a value of type {}",
                rule.name(),
                spec.name,
                argument.type_name
            );
            problems.push(BuildProblem::of_tool(
                registration.name,
                message,
                "remove it, or give the argument another type",
            ));
        }
        if spec.details.rules.is_empty() {
            continue;
        }
        check_bounds(registration.name, spec.name, argument, problems);
        check_one_of(registration.name, spec, argument, definition, problems);
    }
}

/// Rejects contradictory bounds, including those of the type, because they make the tool uncallable.
fn check_bounds(tool: &str, name: &str, argument: &Argument, problems: &mut Vec<BuildProblem>) {
    const BOUNDS: [(&str, &str); 4] = [
        ("minimum", "maximum"),
        ("minLength", "maxLength"),
        ("minItems", "maxItems"),
        ("minProperties", "maxProperties"),
    ];
    for (least, most) in BOUNDS {
        let (Some(from), Some(to)) = (argument.keywords.get(least), argument.keywords.get(most)) else { continue };
        if from.as_f64().zip(to.as_f64()).is_some_and(|(from, to)| from > to) {
            let message = format!("no value of `{name}` would be accepted: `{least}` is {from}, `{most}` is {to}");
            problems.push(BuildProblem::of_tool(tool, message, "give bounds that values of its type can keep"));
        }
    }
}

/// Rejects values of `one_of` that the type or another rule does not accept.
fn check_one_of(
    tool: &str,
    spec: &ArgumentSpec,
    argument: &Argument,
    definition: &ToolDefinition,
    problems: &mut Vec<BuildProblem>,
) {
    let listed = spec.details.rules.iter().filter_map(|rule| match rule {
        Rule::OneOf(values) => serde_json::from_str::<Vec<Value>>(values).ok(),
        _ => None,
    });
    for value in listed.flatten() {
        let Ok(validator) = Validator::new(&argument.schema(), &definition.defs) else { continue };
        for violation in validator.check(&value, spec.name) {
            let message =
                format!("`one_of` of `{}` lists an invalid value: {}", spec.name, ArgumentError::from(violation));
            problems.push(BuildProblem::of_tool(tool, message, "list values that the argument takes"));
        }
    }
}

/// Rejects a default that the schema does not accept, because every call without the argument would fail, and a schema
/// that cannot be enforced.
fn check_schemas(registration: &Registration, definition: &ToolDefinition, problems: &mut Vec<BuildProblem>) {
    let is_plain = is_plain(definition);
    for (name, argument) in &definition.arguments {
        let default = argument.keywords.get("default");
        if is_plain && default.is_none() {
            continue;
        }
        let validator = match Validator::new(&argument.schema(), &definition.defs) {
            Ok(validator) => validator,
            Err(error) => {
                let message = format!("the schema of `{name}` cannot be enforced: {error}");
                problems.push(BuildProblem::of_tool(registration.name, message, "describe it otherwise"));
                continue;
            }
        };
        let Some(default) = default else { continue };
        for violation in validator.check(default, name) {
            let message = format!("the default of `{name}` is invalid: {}", ArgumentError::from(violation));
            problems.push(BuildProblem::of_tool(registration.name, message, "give a default that the argument takes"));
        }
    }
}
