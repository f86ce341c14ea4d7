//! What is known of a tool's arguments at the call, and what is said when they are wrong.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tool_model::validate::{self, Validator};
use tool_model::{Argument, Registration, ToolDefinition, nearest};

use super::duplicate::FreeForm;
use super::place::{offset, path};
use super::read::{Problem, without_place};
use crate::{ArgumentError, ErrorKind, ToolError};

/// The arguments of one tool, in the order of its signature.
pub(crate) struct Schemas {
    pub(crate) arguments: Vec<BoundArgument>,
    definition: Arc<ToolDefinition>,
}

/// One argument.
pub(crate) struct BoundArgument {
    pub(crate) name: &'static str,
    /// The text to decode where it is not sent.
    pub(crate) default: Option<Cow<'static, str>>,
    /// Whether its schema says more than its type enforces.
    pub(crate) checked: bool,
    /// Where equal keys would go unnoticed.
    pub(super) free_form: FreeForm,
    validator: OnceLock<Option<Validator>>,
}

impl Schemas {
    pub(crate) fn new(tool: &Registration, definition: Arc<ToolDefinition>) -> Self {
        let argument = |name: &'static str, spec_default: Option<&'static str>, constrained: bool| {
            let argument = definition.arguments.get(name);
            let explicit_default = argument
                .filter(|_| tool.options.explicit.is_some())
                .and_then(|argument| argument.keywords.get("default"));
            BoundArgument {
                name,
                default: explicit_default
                    .map(|value| Cow::Owned(value.to_string()))
                    .or(spec_default.map(Cow::Borrowed)),
                checked: constrained
                    || tool.options.explicit.is_some()
                    || argument.is_some_and(|argument| narrows(&argument.schema(), &definition)),
                free_form: argument
                    .map_or(FreeForm::Nowhere, |argument| FreeForm::of(&argument.schema(), &definition.defs)),
                validator: OnceLock::new(),
            }
        };
        let arguments = tool
            .arguments
            .iter()
            .map(|spec| argument(spec.name, spec.details.default, !spec.details.rules.is_empty()))
            .collect();
        Self { arguments, definition }
    }

    pub(crate) fn definition(&self) -> &Arc<ToolDefinition> {
        &self.definition
    }

    /// Whether a decoded value is also what the schema allows.
    pub(super) fn accepts(&self, argument: &BoundArgument, raw: &str) -> bool {
        // The type took `null`, so the argument is optional; the schema speaks of the values it has otherwise.
        if raw == "null" {
            return true;
        }
        let Some(validator) = self.validator(argument) else { return true };
        serde_json::from_str(raw).is_ok_and(|value| validator.is_valid(&value))
    }

    fn validator<'a>(&self, argument: &'a BoundArgument) -> Option<&'a Validator> {
        let compile = || Validator::new(&self.of(argument)?.schema(), &self.definition.defs).ok();
        argument.validator.get_or_init(compile).as_ref()
    }

    fn of(&self, argument: &BoundArgument) -> Option<&Argument> {
        self.definition.arguments.get(argument.name)
    }

    fn expectation(&self, argument: &BoundArgument) -> String {
        self.of(argument)
            .map_or_else(String::new, |argument| validate::describe(&argument.schema(), &self.definition.defs))
    }

    /// All problems in words that the model can act on.
    pub(crate) fn explain(&self, tool: &str, text: &str, problems: Vec<Problem>) -> ToolError {
        let mut errors: Vec<ArgumentError> = Vec::new();
        for problem in problems {
            self.describe(problem, text, &mut errors);
        }
        self.hide_secrets(&mut errors);
        let mut message = format!("Invalid arguments for `{tool}`:");
        for error in &errors {
            message.push_str(&format!("\n- {error}"));
        }
        ToolError { arguments: errors, ..ToolError::new(ErrorKind::InvalidArguments, message) }
    }

    /// What a secret argument received is not repeated: the answer goes into logs and prompts.
    fn hide_secrets(&self, errors: &mut [ArgumentError]) {
        let secrets = self.definition.arguments.iter().filter(|(_, argument)| argument.is_secret());
        for (name, _) in secrets {
            let is_its = |path: &str| {
                path.strip_prefix(name.as_str())
                    .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            };
            for error in errors.iter_mut().filter(|error| is_its(&error.path)) {
                error.received = error.received.take().map(|_| "a secret".to_owned());
                // The type's own words may repeat the value, too.
                if let Some(reason) = error.expected.find(" (") {
                    error.expected.truncate(reason);
                }
            }
        }
    }

    fn describe(&self, problem: Problem, text: &str, errors: &mut Vec<ArgumentError>) {
        let whole = |expected: String| ArgumentError { path: String::new(), received: None, expected };
        match problem {
            Problem::Malformed(what) => errors.push(whole(format!("the arguments are no valid JSON: {what}"))),
            Problem::NotAnObject(received) => errors.push(ArgumentError {
                path: String::new(),
                received: Some(received),
                expected: "a JSON object with the arguments by name".to_owned(),
            }),
            Problem::Unknown(name) => {
                let expected = self.unknown(&name);
                errors.push(ArgumentError { path: validate_path(&name), received: None, expected });
            }
            Problem::Duplicate(name) => errors.push(ArgumentError {
                path: validate_path(&name),
                received: None,
                expected: "this key stands twice in one object; send it once".to_owned(),
            }),
            Problem::Missing(index) => {
                let argument = &self.arguments[index];
                let expected = format!("missing, expected {}", self.expectation(argument));
                errors.push(ArgumentError { path: argument.name.to_owned(), received: None, expected });
            }
            Problem::Invalid { index, start, end, error } => {
                let argument = &self.arguments[index];
                let raw = &text[start..end];
                let before = errors.len();
                self.violations(argument, raw, errors);
                if errors.len() == before {
                    errors.push(self.undecodable(argument, raw, &error));
                }
            }
            Problem::Refused { index, start, end } => {
                self.violations(&self.arguments[index], &text[start..end], errors)
            }
        }
    }

    /// What the schema has against a value, all of it.
    fn violations(&self, argument: &BoundArgument, raw: &str, errors: &mut Vec<ArgumentError>) {
        let (Some(validator), Ok(value)) = (self.validator(argument), serde_json::from_str::<Value>(raw)) else {
            return;
        };
        let violations = validator.check(&value, argument.name).into_iter();
        errors.extend(violations.map(|violation| ArgumentError {
            path: violation.path,
            received: violation.received,
            expected: violation.expected,
        }));
    }

    /// What the type itself says where the schema sees nothing wrong.
    fn undecodable(&self, argument: &BoundArgument, raw: &str, error: &serde_json::Error) -> ArgumentError {
        let place =
            if error.line() == 0 { String::new() } else { path(raw, offset(raw, error.line(), error.column())) };
        let reason = without_place(error);
        let expected = match self.expectation(argument) {
            known if known.is_empty() || known == "any value" || !place.is_empty() => {
                format!("a value that can be read ({reason})")
            }
            known => format!("{known} ({reason})"),
        };
        ArgumentError { path: format!("{}{place}", argument.name), received: Some(shorten(raw)), expected }
    }

    fn unknown(&self, name: &str) -> String {
        let names = self.arguments.iter().map(|argument| argument.name);
        match nearest(name, names.clone()).first() {
            Some(near) => format!("unknown argument; did you mean `{near}`?"),
            None if self.arguments.is_empty() => "unknown argument; this tool takes none".to_owned(),
            None => {
                let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
                format!("unknown argument; there is {}", names.join(", "))
            }
        }
    }
}

/// A key as it stands in a path; a long one is cut.
fn validate_path(name: &str) -> String {
    shorten(name)
}

/// At most eighty characters of a text.
pub(super) fn shorten(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether a schema refuses values that its Rust type takes: what `#[schemars(..)]` adds to a type is not enforced by
/// its `Deserialize`. The bounds of integer types are.
fn narrows(schema: &Value, definition: &ToolDefinition) -> bool {
    let root = std::iter::once(schema);
    let referred = schema_has_ref(schema).then(|| definition.defs.values()).into_iter().flatten();
    root.chain(referred).any(has_narrowing_keyword)
}

fn schema_has_ref(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => object.contains_key("$ref") || object.values().any(schema_has_ref),
        Value::Array(items) => items.iter().any(schema_has_ref),
        _ => false,
    }
}

fn has_narrowing_keyword(schema: &Value) -> bool {
    let Value::Object(object) = schema else {
        return matches!(schema, Value::Array(items) if items.iter().any(has_narrowing_keyword));
    };
    let number = |key: &str| object.get(key).filter(|value| value.is_number());
    let pair = |least: &str, most: &str| (number(least).and_then(Value::as_i64), number(most).and_then(Value::as_i64));
    let is_char = pair("minLength", "maxLength") == (Some(1), Some(1));
    let is_fixed_array = number("minItems").is_some() && number("minItems") == number("maxItems");
    object.iter().any(|(key, value)| match key.as_str() {
        "pattern" => value.is_string(),
        "multipleOf" | "exclusiveMinimum" | "exclusiveMaximum" | "minProperties" | "maxProperties" => value.is_number(),
        "minLength" | "maxLength" => value.is_number() && !is_char,
        "minItems" | "maxItems" => value.is_number() && !is_fixed_array,
        "minimum" | "maximum" => value.is_number() && !is_range_of_an_integer_type(object, pair("minimum", "maximum")),
        "enum" | "const" | "default" | "examples" => value.is_object() && has_narrowing_keyword(value),
        _ => has_narrowing_keyword(value),
    })
}

/// The one ambiguous case, `minimum: 0` alone, is read as that of a `u64`.
fn is_range_of_an_integer_type(object: &serde_json::Map<String, Value>, range: (Option<i64>, Option<i64>)) -> bool {
    const RANGES: [(i64, i64); 6] =
        [(0, 255), (0, 65_535), (0, 4_294_967_295), (-128, 127), (-32_768, 32_767), (-2_147_483_648, 2_147_483_647)];
    object.get("type").and_then(Value::as_str) != Some("number")
        && match range {
            (Some(least), Some(most)) => RANGES.contains(&(least, most)),
            (least, most) => least == Some(0) && most.is_none() && !object.contains_key("maximum"),
        }
}
