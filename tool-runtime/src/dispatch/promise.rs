//! Whether a tool keeps what its definition promises, found before the first call.

use std::sync::{Arc, OnceLock};

use tool_model::validate::{Validator, is_plain};
use tool_model::{ArgumentSpec, Registration, ToolDefinition};

use super::Problem;
use crate::arguments::{Reader, Schemas};
use crate::shim::Shim;

/// Reports promises that types and schemas do not keep. What was made on the way is given back for the calls.
pub(super) fn check_promises(
    registration: &'static Registration,
    shim: &Shim,
    definition: &OnceLock<Arc<ToolDefinition>>,
    problems: &mut Vec<Problem>,
) -> Option<Schemas> {
    let says_more = says_more(registration);
    if !says_more && registration.call.types().are_scalar() {
        return None;
    }
    let definition = definition.get_or_init(|| Arc::new(registration.definition()));
    check_schemas(registration, definition, problems);
    if !says_more {
        return None;
    }
    check_rules(registration, definition, problems);
    let schemas = Schemas::new(registration, definition.clone());
    for (index, wrong) in shim.try_absent(Reader { text: "{}", schemas: &schemas, allow_unknown: false, repair: false })
    {
        let message = format!("the argument `{}`: {wrong}", registration.arguments[index].name);
        problems.push(Problem::of_tool(registration.name, message, "give it a default that its type reads"));
    }
    Some(schemas)
}

/// Whether the source says more of the arguments than their types do.
fn says_more(registration: &Registration) -> bool {
    let said = |spec: &ArgumentSpec| {
        let details = spec.details;
        details.default.is_some() || details.or_default || !details.rules.is_empty()
    };
    registration.options.explicit.is_some() || registration.arguments.iter().any(said)
}

/// A rule that says nothing about the argument's type would be shown to the model and mean nothing.
fn check_rules(registration: &Registration, definition: &ToolDefinition, problems: &mut Vec<Problem>) {
    for spec in registration.arguments {
        let Some(argument) = definition.arguments.get(spec.name) else { continue };
        for rule in spec.details.rules.iter().filter(|rule| !rule.fits(&argument.type_name)) {
            let message = format!(
                "`{}` of `{}` says nothing about a value of type {}",
                rule.name(),
                spec.name,
                argument.type_name
            );
            problems.push(Problem::of_tool(registration.name, message, "remove it, or give the argument another type"));
        }
    }
}

/// A default that the schema refuses would make every call without it fail; a schema that cannot be enforced is a
/// promise that cannot be kept.
fn check_schemas(registration: &Registration, definition: &ToolDefinition, problems: &mut Vec<Problem>) {
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
                problems.push(Problem::of_tool(registration.name, message, "describe it otherwise"));
                continue;
            }
        };
        let Some(default) = default else { continue };
        for violation in validator.check(default, name) {
            let message =
                format!("the default of `{}` is {default}, but {} is expected", violation.path, violation.expected);
            problems.push(Problem::of_tool(registration.name, message, "give a default that the argument takes"));
        }
    }
}
