//! What is known of a tool's arguments at the call, and what is said when they are wrong.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tool_model::validate::{self, Validator, Violation};
use tool_model::{Argument, Registration, ToolDefinition, nearest};

use super::duplicate::FreeForm;
use super::number::beyond_64_bits;
use super::place::{number_at, offset, path_of_error, unfinished_number};
use super::read::{Problem, WITHOUT_FRACTION, without_place};
use super::{Decode, Reason, Undecodable, trial};
use crate::arguments::ArgumentError;
use crate::redact::Redaction;
use crate::{ErrorKind, ToolError};

/// How many mistakes a message tells.
const SHOWN: usize = 50;

/// How many mistakes a result keeps.
const KEPT: usize = 200;

/// The arguments of one tool, in the order of its signature.
pub(crate) struct Schemas {
    pub(crate) arguments: Vec<BoundArgument>,
    definition: Arc<ToolDefinition>,
    redaction: OnceLock<Redaction>,
}

/// One argument.
pub(crate) struct BoundArgument {
    pub(crate) name: Cow<'static, str>,
    /// The text to decode where it is not sent.
    pub(crate) default: Option<Cow<'static, str>>,
    /// Whether its schema says more than its type enforces, once that is known.
    checked: OnceLock<bool>,
    /// The byte that a value begins with, where its type would take others: serde reads structs from arrays, too, and
    /// bare variants from objects.
    pub(super) first_byte: Option<u8>,
    /// Whether it must be sent although its type could do without (`arguments(..)`).
    pub(super) demanded: bool,
    /// Whether `null` stands for its absence.
    optional: bool,
    /// Where equal keys would go unnoticed.
    pub(super) free_form: FreeForm,
    validator: OnceLock<Option<Validator>>,
}

impl BoundArgument {
    /// Whether its type was not tried yet.
    #[inline]
    pub(super) fn is_untried(&self) -> bool {
        self.checked.get().is_none()
    }

    /// Whether values of its type have to be validated.
    #[inline]
    pub(super) fn is_checked(&self) -> bool {
        self.checked.get().is_some_and(|checked| *checked)
    }
}

impl Schemas {
    pub(crate) fn new(tool: &Registration, definition: Arc<ToolDefinition>) -> Self {
        let argument = |name: &'static str, spec_default: Option<&'static str>, constrained: bool| {
            let argument = definition.arguments.get(name);
            let schema = argument.map(Argument::schema);
            let schema = schema.as_ref();
            let is_checked = constrained
                || tool.options.explicit.is_some()
                || schema.is_some_and(|schema| validate::narrows_its_type(schema, &definition.defs));
            let is_settled = is_checked || !schema.is_some_and(trial::is_worth_trying);
            let explicit_default = argument
                .filter(|_| tool.options.explicit.is_some())
                .and_then(|argument| argument.keywords.get("default"));
            BoundArgument {
                name: Cow::Borrowed(name),
                default: explicit_default
                    .map(|value| Cow::Owned(value.to_string()))
                    .or(spec_default.map(Cow::Borrowed)),
                checked: if is_settled { OnceLock::from(is_checked) } else { OnceLock::new() },
                first_byte: argument.and_then(first_byte),
                demanded: tool.options.explicit.is_some() && argument.is_some_and(|argument| argument.required),
                optional: tool.options.explicit.is_none() && argument.is_some_and(|argument| !argument.required),
                free_form: schema.map_or(FreeForm::Nowhere, |schema| FreeForm::of(schema, &definition.defs)),
                validator: OnceLock::new(),
            }
        };
        let arguments = tool
            .arguments
            .iter()
            .map(|spec| argument(spec.name, spec.details.default, !spec.details.rules.is_empty()))
            .collect();
        Self { arguments, definition, redaction: OnceLock::new() }
    }

    /// The arguments of a tool that was made at run time, which are values until they are all there: the schema alone
    /// says what they can be.
    pub(crate) fn of_values(definition: Arc<ToolDefinition>, is_nullable: impl Fn(&str) -> bool) -> Self {
        let argument = |(name, argument): (&String, &Argument)| BoundArgument {
            name: Cow::Owned(name.clone()),
            default: None,
            checked: OnceLock::from(true),
            first_byte: first_byte(argument),
            demanded: argument.required,
            optional: !argument.required && is_nullable(name),
            free_form: FreeForm::Anywhere,
            // What cannot be enforced was refused before, or is left to the tool.
            validator: OnceLock::from(
                Validator::as_far_as_possible(&argument.schema(), &definition.defs)
                    .ok()
                    .map(|(validator, _)| validator),
            ),
        };
        let arguments = definition.arguments.iter().map(argument).collect();
        Self { arguments, definition, redaction: OnceLock::new() }
    }

    /// Fills each argument that may be left out as if it had been; by index, what its type has against that.
    pub(crate) fn try_absent(&self, slots: &mut [&mut dyn Decode]) -> Vec<(usize, String)> {
        let mut wrong = Vec::new();
        for (index, (argument, slot)) in self.arguments.iter().zip(slots).enumerate() {
            let required = self.of(argument).is_none_or(|argument| argument.required);
            match &argument.default {
                Some(default) => {
                    if let Err(error) = slot.decode(default, &mut 0) {
                        wrong.push((
                            index,
                            format!("its default {default} cannot be read: {}", without_place(&error.0.error)),
                        ));
                    }
                }
                None if !required && !slot.absent() => {
                    wrong.push((
                        index,
                        "it is called optional, but its type is no `Option` and it has no default".to_owned(),
                    ));
                }
                None => {}
            }
        }
        wrong
    }

    /// Whether a decoded value is also what the schema allows.
    pub(super) fn accepts(&self, argument: &BoundArgument, raw: &str) -> bool {
        // The schema of an optional argument speaks of the values it has when it is there.
        if argument.optional && raw == "null" {
            return true;
        }
        let Some(validator) = self.validator(argument) else { return true };
        serde_json::from_str(raw).is_ok_and(|value| validator.is_valid(&value))
    }

    /// Finds out whether the schema says more than the type of the slot enforces. The slot is empty afterwards.
    #[cold]
    pub(super) fn try_type(&self, argument: &BoundArgument, slot: &mut dyn Decode) {
        let mut decodes = |text: &str| {
            let decoded = crate::panics::catch(|| slot.decode(text, &mut 0).is_ok());
            slot.clear();
            decoded.unwrap_or(false)
        };
        let takes_more = self.of(argument).zip(self.validator(argument)).is_some_and(|(definition, validator)| {
            trial::takes_more(&definition.schema(), &self.definition.defs, validator, &mut decodes)
        });
        // Another call may have found out meanwhile.
        let _ = argument.checked.set(takes_more);
    }

    fn validator<'a>(&self, argument: &'a BoundArgument) -> Option<&'a Validator> {
        let compile = || Validator::new(&self.of(argument)?.schema(), &self.definition.defs).ok();
        argument.validator.get_or_init(compile).as_ref()
    }

    pub(super) fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    /// Returns the redaction of the tool's arguments, planned at its first use.
    pub(crate) fn redaction(&self) -> &Redaction {
        self.redaction.get_or_init(|| Redaction::new(&self.definition))
    }

    /// Whether arguments that are refused may be mended.
    pub(crate) fn is_mended(&self, by_default: bool) -> bool {
        self.definition.repair.unwrap_or(by_default)
    }

    fn of(&self, argument: &BoundArgument) -> Option<&Argument> {
        self.definition.arguments.get(&*argument.name)
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
        self.refusal(tool, errors)
    }

    /// Refuses arguments for what is wrong with them together.
    pub(crate) fn refusal_together(&self, tool: &str, mut errors: Vec<ArgumentError>) -> ToolError {
        let has_secrets = self.redaction().may_hold_secrets();
        // What concerns all of them may repeat any of them.
        for error in errors.iter_mut().filter(|error| has_secrets && error.path.is_empty()) {
            error.received = None;
            error.expected.truncate(error.expected.find(':').unwrap_or(error.expected.len()));
        }
        self.refusal(tool, errors)
    }

    /// All errors in words that the model can act on.
    fn refusal(&self, tool: &str, mut errors: Vec<ArgumentError>) -> ToolError {
        self.hide_secrets(&mut errors);
        let mut message = format!("Invalid arguments for `{tool}`:");
        for error in errors.iter().take(SHOWN) {
            message.push_str(&format!("\n- {error}"));
        }
        if errors.len() > SHOWN {
            message.push_str(&format!("\n- … and {} more", errors.len() - SHOWN));
        }
        errors.truncate(KEPT);
        let mut error = ToolError::new(ErrorKind::InvalidArguments, message);
        error.arguments = errors;
        error
    }

    /// What an argument with a secret in it received is not repeated: the answer goes into logs and prompts.
    fn hide_secrets(&self, errors: &mut [ArgumentError]) {
        let redaction = self.redaction();
        for name in self.definition.arguments.keys().filter(|name| redaction.may_hold_secret(name)) {
            let is_its = |path: &str| {
                path.strip_prefix(name.as_str())
                    .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            };
            for error in errors.iter_mut().filter(|error| is_its(&error.path)) {
                // The keys of a secret are part of it.
                if redaction.is_secret(name) {
                    error.path.truncate(name.len());
                }
                error.received = error.received.take().map(|_| "a secret".to_owned());
                // The type's own words may repeat the value, too.
                let reason = [" (", ": "].into_iter().filter_map(|begin| error.expected.find(begin)).min();
                error.expected.truncate(reason.unwrap_or(error.expected.len()));
            }
        }
    }

    fn describe(&self, problem: Problem, text: &str, errors: &mut Vec<ArgumentError>) {
        let whole = |expected: String| ArgumentError { path: String::new(), received: None, expected };
        match problem {
            Problem::Malformed { what, place, near } => {
                let near = match near.as_str() {
                    "" => ", at the end".to_owned(),
                    _ if self.redaction().may_hold_secrets() => String::new(),
                    near => format!(", near {near:?}"),
                };
                errors.push(whole(format!("the arguments are no valid JSON: {what} ({place}{near})")));
            }
            Problem::NotAnObject(received) => errors.push(ArgumentError {
                path: String::new(),
                received: Some(received).filter(|_| !self.redaction().may_hold_secrets()),
                expected: "a JSON object with the arguments by name".to_owned(),
            }),
            Problem::Unknown(name) => {
                let expected = self.unknown(&name);
                errors.push(ArgumentError { path: shorten(&name), received: None, expected });
            }
            Problem::Duplicate(index) => errors.push(ArgumentError {
                path: self.arguments[index].name.to_string(),
                received: None,
                expected: "sent twice; send it once".to_owned(),
            }),
            Problem::NestedDuplicate { index, key } => {
                let path = self.arguments[index].name.to_string();
                // The keys of a secret are part of it.
                let is_secret = self.redaction().is_secret(&path);
                let key = if is_secret { "a key".to_owned() } else { format!("the key {:?}", shorten(&key)) };
                let expected = format!("{key} stands twice in one object; send it once");
                errors.push(ArgumentError { path, received: None, expected });
            }
            Problem::Missing(index) => {
                let argument = &self.arguments[index];
                let expected = format!("missing, expected {}", self.expectation(argument));
                errors.push(ArgumentError { path: argument.name.to_string(), received: None, expected });
            }
            Problem::Invalid { index, start, end, error } => {
                self.violations(&self.arguments[index], &text[start..end], Some(&error), errors);
            }
            Problem::Refused { index, start, end } => {
                self.violations(&self.arguments[index], &text[start..end], None, errors);
            }
        }
    }

    /// What the schema has against a value, all of it; if it has nothing, what the type itself says.
    fn violations(
        &self,
        argument: &BoundArgument,
        raw: &str,
        error: Option<&Undecodable>,
        errors: &mut Vec<ArgumentError>,
    ) {
        let value = serde_json::from_str::<Value>(raw);
        let violations = match (self.validator(argument), &value) {
            (Some(validator), Ok(value)) => validator.check(value, &argument.name),
            _ => Vec::new(),
        };
        if !violations.is_empty() {
            return errors.extend(violations.into_iter().map(in_words));
        }
        let reason = error.map(|error| &*error.0);
        let refusal = reason.map(|reason| &reason.error).or(value.as_ref().err());
        match (reason, value.as_ref().ok().zip(refusal)) {
            (Some(Reason { error, item: Some((index, text)) }), _) => errors.push(ArgumentError {
                path: format!("{}[{index}]", argument.name),
                received: Some(shorten(&format!("{text:?}"))),
                expected: format!("a value that can be read ({})", shorten_to(&error.to_string(), 200)),
            }),
            (_, Some((value, refusal))) => match self.unknown_properties(argument, raw, value, refusal) {
                unknown if unknown.is_empty() => errors.push(self.undecodable(argument, raw, Some(refusal))),
                unknown => errors.extend(unknown),
            },
            _ => errors.push(self.undecodable(argument, raw, refusal)),
        }
    }

    /// Returns the properties for which a type refused a value, although the value's schema is open. A type that does not
    /// know a property stops at it; an enum that finds another key beside its variant stops before it.
    fn unknown_properties(
        &self,
        argument: &BoundArgument,
        raw: &str,
        value: &Value,
        error: &serde_json::Error,
    ) -> Vec<ArgumentError> {
        let is_about_a_number = || Refusal::new(raw, error, true).number.is_some();
        let Some(validator) = self.validator(argument).filter(|_| error.line() > 0 && !is_about_a_number()) else {
            return Vec::new();
        };
        let steps = path_of_error(raw, error.line(), error.column());
        let Some((_, parents)) = steps.split_last() else { return Vec::new() };
        let (here, parent) = (steps.concat(), parents.concat());
        let is_there = |path: &str| {
            let Some(place) = path.strip_prefix(&*argument.name) else { return false };
            let is_inside = |outer: &str| place.strip_prefix(outer).is_some_and(|rest| rest.starts_with(['.', '[']));
            match error.is_syntax() {
                true => is_inside(&parent) && place != here && !is_inside(&here),
                false => place == here,
            }
        };
        let mut unknown = validator.check_closed(value, &argument.name);
        unknown.retain(|violation| violation.received.is_some() && is_there(&violation.path));
        unknown.into_iter().map(in_words).collect()
    }

    /// What the type itself says where the schema sees nothing wrong.
    fn undecodable(&self, argument: &BoundArgument, raw: &str, error: Option<&serde_json::Error>) -> ArgumentError {
        let known = self.expectation(argument);
        let is_described = known != "any value";
        let refusal = error.map(|error| Refusal::new(raw, error, is_described)).unwrap_or_default();
        if refusal.place.is_empty() && is_described {
            let reason = if refusal.reason.is_empty() { String::new() } else { format!(" ({})", refusal.reason) };
            let path = argument.name.to_string();
            return ArgumentError { path, received: Some(shorten(raw)), expected: format!("{known}{reason}") };
        }
        refusal.in_words(&argument.name)
    }

    fn unknown(&self, name: &str) -> String {
        let names = self.arguments.iter().map(|argument| &*argument.name);
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

/// The byte that a value of this type begins with, where there is only one.
fn first_byte(argument: &Argument) -> Option<u8> {
    match argument.type_name.as_str() {
        "object" => Some(b'{'),
        "string" => Some(b'"'),
        _ => None,
    }
}

/// A violation as an argument's error. What is missing has received nothing; what is unknown was expected by nobody.
pub(crate) fn in_words(violation: Violation) -> ArgumentError {
    let Violation { path, received, expected } = violation;
    if expected.starts_with("unknown property") {
        return ArgumentError { path, received: None, expected };
    }
    let expected = if received.is_none() { format!("missing, expected {expected}") } else { expected };
    ArgumentError { path, received, expected }
}

/// What a type has against arguments that are read from one text, with its place there.
#[cold]
pub(crate) fn place_of(text: &str, error: &serde_json::Error) -> ArgumentError {
    let mut error = Refusal::new(text, error, true).in_words("");
    error.path = error.path.trim_start_matches('.').to_owned();
    error
}

/// Why a type refused a value that is valid JSON.
#[derive(Default)]
struct Refusal<'t> {
    /// The path below the argument: `.items[2].sku`.
    place: String,
    /// The number that was refused, where an integer was expected.
    number: Option<&'t str>,
    /// Why, in words about the value. Where a type does not find the JSON that it reads, `serde_json` speaks of bytes.
    reason: String,
}

impl<'t> Refusal<'t> {
    /// Of a type that is not described it is not known whether it is an enum.
    fn new(text: &'t str, error: &serde_json::Error, is_described: bool) -> Self {
        let reason = without_place(error);
        if error.line() == 0 {
            return Self { reason: shorten_to(&reason, 200), ..Self::default() };
        }
        let place = path_of_error(text, error.line(), error.column()).concat();
        let stop = offset(text, error.line(), error.column());
        let unfinished = || unfinished_number(text, stop).map(|number| (number, WITHOUT_FRACTION));
        let number = match reason.as_str() {
            "expected value" if is_described => unfinished(),
            "trailing characters" | "expected `,` or `]`" | "expected `,` or `}`" => unfinished(),
            reason if reason.starts_with("invalid type: floating point") => refused_float(text, stop),
            _ => None,
        };
        let reason = match (number, reason.as_str()) {
            (Some((_, reason)), _) => reason.to_owned(),
            (None, "expected value") => {
                "an enum is written as the name of a variant, or as an object with that name as its only key".to_owned()
            }
            (None, "trailing characters" | "trailing comma") => {
                "there is more than the type reads; leave out what is here and behind".to_owned()
            }
            (None, reason) => shorten_to(reason, 200),
        };
        Self { place, number: number.map(|(number, _)| number), reason }
    }

    fn in_words(self, argument: &str) -> ArgumentError {
        let path = format!("{argument}{}", self.place);
        match self.number {
            Some(number) => {
                let expected = format!("integer ({})", self.reason);
                ArgumentError { path, received: Some(shorten(number)), expected }
            }
            None => ArgumentError { path, received: None, expected: format!("cannot be read: {}", self.reason) },
        }
    }
}

/// Returns the integer at an offset that a type refused as a float, and why it is one: `serde_json` reads integers of 64
/// bits, everything else is a float.
fn refused_float(text: &str, offset: usize) -> Option<(&str, &'static str)> {
    let number = number_at(text, offset)?;
    if beyond_64_bits(number).is_some() {
        return Some((number, "it is beyond 64 bits"));
    }
    let is_whole = number.parse::<f64>().is_ok_and(|float| float.fract() == 0.0);
    is_whole.then_some((number, WITHOUT_FRACTION))
}

/// At most eighty characters of a text.
pub(super) fn shorten(text: &str) -> String {
    shorten_to(text, 80)
}

fn shorten_to(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
