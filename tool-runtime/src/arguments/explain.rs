//! Explanation of refused arguments: problems of the reader become violations, then a [`ToolError`].
//!
//! Secrets are removed from the violations, before any text is written.

use serde_json::Value;
use tool_model::validate::{
    self, Constraint, DecodeReason, Expectation, NameList, PathStep, Received, UnknownName, ValuePath, Violation,
    ViolationKind,
};
use tool_model::{nearest, shorten};

use super::decode_error::{DecodeError, own_reason};
use super::read::ArgumentProblem;
use super::schemas::{ArgumentSchemas, BoundArgument};
use super::slot::{DecodeFailure, Undecodable};
use super::{ArgumentError, message};
use crate::{ErrorKind, ToolError};

/// The number of errors that a message lists.
const SHOWN: usize = 50;

/// The number of errors that a result keeps.
const KEPT: usize = 200;

/// The number of characters of a received value.
const LONGEST_RECEIVED: usize = 80;

impl ArgumentSchemas {
    /// Returns the error for arguments that the reader refused.
    pub(crate) fn explain(&self, tool: &str, text: &str, problems: Vec<ArgumentProblem>) -> ToolError {
        let mut violations = Vec::new();
        for problem in problems {
            self.add_violations(problem, text, &mut violations);
        }
        self.refuse(tool, violations)
    }

    /// Returns the error for violations that were found behind the reader, where arguments have their own names.
    pub(crate) fn refuse_own(&self, tool: &str, mut violations: Vec<Violation>) -> ToolError {
        for violation in &mut violations {
            violation.path.root = self.shown_name(&violation.path.root).to_owned();
        }
        self.refuse(tool, violations)
    }

    /// Returns the error for arguments with these violations.
    pub(crate) fn refuse(&self, tool: &str, mut violations: Vec<Violation>) -> ToolError {
        let omitted = violations.len().saturating_sub(SHOWN);
        violations.truncate(KEPT);
        violations.iter_mut().for_each(|violation| self.hide_secrets(violation));
        let errors: Vec<_> = violations.into_iter().map(ArgumentError::from).collect();
        let lines: Vec<_> = errors.iter().take(SHOWN).map(ToString::to_string).collect();
        let mut error = ToolError::new(ErrorKind::InvalidArguments, message::format().refusal(tool, &lines, omitted));
        error.arguments = errors;
        error
    }

    /// Removes secrets from a violation: errors go into logs and prompts.
    fn hide_secrets(&self, violation: &mut Violation) {
        let redaction = self.redaction();
        match violation.path.argument() {
            // A violation by the arguments as a whole may repeat any of them.
            None if redaction.may_hold_secrets() => {
                violation.hide_value();
                violation.received = Received::Nothing;
            }
            // The violation of an undeclared argument holds nothing but its name.
            Some(name) if !self.definition().arguments.contains_key(name) => {}
            Some(name) if redaction.is_secret(name) => violation.hide_keys(),
            Some(name) if redaction.may_hold_secret(name) => violation.hide_value(),
            _ => {}
        }
    }

    fn add_violations(&self, problem: ArgumentProblem, text: &str, violations: &mut Vec<Violation>) {
        let at = |index: usize| ValuePath::new(&*self.arguments[index].name);
        violations.push(match problem {
            ArgumentProblem::Malformed(kind) => Violation::new(ValuePath::default(), kind),
            ArgumentProblem::NotAnObject => Violation::new(ValuePath::default(), ViolationKind::NotAnObject)
                .with_received(shorten(text.trim(), LONGEST_RECEIVED)),
            ArgumentProblem::Unknown(name) => {
                let kind = ViolationKind::Unknown(self.unknown_argument(&name));
                Violation::new(ValuePath::new(shorten(&name, LONGEST_RECEIVED)), kind)
            }
            ArgumentProblem::Alias { alias, index, .. } => {
                let name = self.arguments[index].name.to_string();
                Violation::new(ValuePath::new(alias), ViolationKind::Alias { name })
            }
            ArgumentProblem::Duplicate(index) => Violation::new(at(index), ViolationKind::Duplicate),
            ArgumentProblem::NestedDuplicate { index, key } => {
                let key = Some(shorten(&key, LONGEST_RECEIVED).into_owned());
                Violation::new(at(index), ViolationKind::DuplicateKey { key })
            }
            ArgumentProblem::Missing(index) => {
                let expected = self.expectation(&self.arguments[index]);
                Violation::new(at(index), ViolationKind::Missing { expected, required_by: None })
            }
            ArgumentProblem::Invalid { index, start, end, error } => {
                return self.add_invalid(&self.arguments[index], &text[start..end], Some(&error), violations);
            }
            ArgumentProblem::Refused { index, start, end } => {
                return self.add_invalid(&self.arguments[index], &text[start..end], None, violations);
            }
        });
    }

    /// Adds all violations of the schema by a value or, if there are none, the reason of the type.
    fn add_invalid(
        &self,
        argument: &BoundArgument,
        raw: &str,
        error: Option<&Undecodable>,
        violations: &mut Vec<Violation>,
    ) {
        let value = serde_json::from_str::<Value>(raw);
        let by_schema = match (self.validator(argument), &value) {
            (Some(validator), Ok(value)) => validator.check(value, &argument.name),
            _ => Vec::new(),
        };
        if !by_schema.is_empty() {
            return violations.extend(by_schema);
        }
        let failure = error.map(|error| &*error.0);
        let is_converted = matches!(failure, Some(DecodeFailure::Conversion { .. } | DecodeFailure::Module(_)));
        let error = match failure {
            Some(DecodeFailure::Conversion { items, error }) if !items.is_empty() => {
                return violations.push(undecodable_item(argument, items, value.as_ref().ok(), error));
            }
            Some(DecodeFailure::Fraction) => {
                return violations.push(self.undecodable(argument, raw, Some(DecodeError::fraction()), false));
            }
            Some(
                DecodeFailure::Type(error) | DecodeFailure::Module(error) | DecodeFailure::Conversion { error, .. },
            ) => Some(error),
            None => value.as_ref().err(),
        };
        if let (Ok(value), Some(error)) = (&value, error) {
            let unknown = self.unknown_properties(argument, raw, value, error);
            if !unknown.is_empty() {
                return violations.extend(unknown);
            }
        }
        let is_described = self.expectation(argument) != Expectation::Anything;
        let error = error.map(|error| DecodeError::new(raw, error, is_described));
        violations.push(self.undecodable(argument, raw, error, is_converted));
    }

    /// Returns the properties for which a type refused a value although its schema is open. A type that does not know a
    /// property stops at it; an enum that finds another key beside its variant stops before it.
    fn unknown_properties(
        &self,
        argument: &BoundArgument,
        raw: &str,
        value: &Value,
        error: &serde_json::Error,
    ) -> Vec<Violation> {
        let Some(validator) = self.validator(argument).filter(|_| error.line() > 0) else { return Vec::new() };
        let refusal = DecodeError::new(raw, error, true);
        let here = refusal.steps.as_slice();
        let Some((_, parent)) = here.split_last().filter(|_| refusal.number.is_none()) else { return Vec::new() };
        let is_there = |steps: &[PathStep]| match error.is_syntax() {
            true => steps.len() > parent.len() && steps.starts_with(parent) && !steps.starts_with(here),
            false => steps == here,
        };
        let mut unknown = validator.check_closed(value, &argument.name);
        unknown.retain(|violation| violation.received != Received::Nothing && is_there(&violation.path.steps));
        unknown
    }

    /// Returns the violation for a value that the type refuses and the schema accepts; `is_converted` if the schema is not
    /// that of the type, but of the value that it is converted from.
    fn undecodable(
        &self,
        argument: &BoundArgument,
        raw: &str,
        error: Option<DecodeError<'_>>,
        is_converted: bool,
    ) -> Violation {
        let expected = match self.expectation(argument) {
            // A format says what the type expects.
            Expectation::Text(form) if form.format.is_some() => Expectation::Text(form),
            Expectation::Anything => Expectation::Anything,
            expected if is_converted => Expectation::Another(Box::new(expected)),
            expected => expected,
        };
        match error {
            Some(error) if !error.steps.is_empty() || expected == Expectation::Anything => {
                error.into_violation(&argument.name)
            }
            None if expected == Expectation::Anything => {
                Violation::new(ValuePath::new(&*argument.name), ViolationKind::Undecodable { reason: None })
            }
            error => {
                let reason = error.map(|error| error.reason);
                let kind = decoding(expected, reason);
                Violation::new(ValuePath::new(&*argument.name), kind).with_received(shorten(raw, LONGEST_RECEIVED))
            }
        }
    }

    fn expectation(&self, argument: &BoundArgument) -> Expectation {
        self.declared(argument).map_or(Expectation::Anything, |argument| {
            validate::expectation(&argument.schema(), &self.definition().defs)
        })
    }

    fn unknown_argument(&self, name: &str) -> UnknownName {
        let names = || self.arguments.iter().map(|argument| &*argument.name);
        UnknownName {
            is_argument: true,
            suggestion: nearest(name, names()).first().map(ToString::to_string),
            known: NameList::new(names()),
            patterns: NameList::default(),
        }
    }
}

fn undecodable_item(
    argument: &BoundArgument,
    items: &[usize],
    list: Option<&Value>,
    error: &serde_json::Error,
) -> Violation {
    let steps = items.iter().map(|&index| PathStep::Item(index)).collect();
    let path = ValuePath { root: argument.name.to_string(), steps };
    let violation = Violation::new(path, decoding(Expectation::Decodable, Some(own_reason(error))));
    let mut item = list;
    for &index in items {
        item = item.and_then(|list| list.get(index));
    }
    match item {
        Some(item) => violation.with_received(shorten(&item.to_string(), LONGEST_RECEIVED)),
        None => violation,
    }
}

fn decoding(expected: Expectation, reason: Option<DecodeReason>) -> ViolationKind {
    ViolationKind::Invalid { constraint: Constraint::Decoding, expected, suggestion: None, reason }
}
