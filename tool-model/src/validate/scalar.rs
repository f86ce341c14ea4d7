//! Rules for numbers and strings.

use serde_json::Number as JsonNumber;

use super::expectation::{Expectation, TextForm};
use super::findings::{Findings, ValueAt};
use super::number::ExactNumber;
use super::schema::{JsonTypes, NumberRules, SchemaRules, TextRules};
use super::violation::Constraint;

/// Checks a number. The violation states the whole range, whichever bound is broken.
pub(super) fn check_number(rules: &SchemaRules, number: &JsonNumber, at: ValueAt<'_>, findings: &mut Findings) {
    if !rules.number.admit(number.into()) {
        let integer = rules.kinds.is_some_and(|kinds| !kinds.has(JsonTypes::NUMBER));
        let kind = if integer { JsonTypes::INTEGER } else { JsonTypes::NUMBER };
        findings.add(|| at.invalid(Constraint::Range, Expectation::number(kind, &rules.number)));
    }
}

impl NumberRules {
    fn admit(&self, number: ExactNumber) -> bool {
        let above = self
            .least
            .is_none_or(|least| number.is_above(least.value) || (!least.exclusive && !least.value.is_above(number)));
        let below = self
            .most
            .is_none_or(|most| most.value.is_above(number) || (!most.exclusive && !number.is_above(most.value)));
        above && below && self.multiple_of.is_none_or(|divisor| number.is_multiple_of(divisor))
    }
}

/// Checks a string. Each broken rule is a separate violation.
pub(super) fn check_text(rules: &TextRules, text: &str, at: ValueAt<'_>, findings: &mut Findings) {
    if !rules.length.is_free() && !rules.length.admits(text.chars().count()) {
        findings.add(|| {
            let form = TextForm { length: rules.length, ..TextForm::default() };
            at.invalid(Constraint::Length, Expectation::Text(form))
        });
    }
    if let Some(format) = rules.format.filter(|format| !format.accepts(text)) {
        findings.add(|| {
            let form = TextForm { format: Some(format.name()), ..TextForm::default() };
            at.invalid(Constraint::Format, Expectation::Text(form))
        });
    }
    if let Some(pattern) = rules.pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
        findings.add(|| {
            let form = TextForm { pattern: Some(pattern.as_str().to_owned()), ..TextForm::default() };
            at.invalid(Constraint::Pattern, Expectation::Text(form))
        });
    }
}
