//! Rules for numbers and strings.

use serde_json::Number as JsonNumber;

use super::findings::{At, Findings};
use super::number::Number;
use super::phrases;
use super::schema::{Kinds, NumberRules, Rules, TextRules};

/// A number outside its range is told the whole range.
pub(super) fn check_number(rules: &Rules, number: &JsonNumber, at: At<'_>, findings: &mut Findings) {
    if !rules.number.admit(number.into()) {
        let integer = rules.kinds.is_some_and(|kinds| !kinds.has(Kinds::NUMBER));
        let kind = if integer { Kinds::INTEGER } else { Kinds::NUMBER };
        findings.add(|| at.unlike(phrases::number(kind.name(), &rules.number)));
    }
}

impl NumberRules {
    fn admit(&self, number: Number) -> bool {
        let above = self
            .least
            .is_none_or(|least| number.is_above(least.value) || (!least.exclusive && !least.value.is_above(number)));
        let below = self
            .most
            .is_none_or(|most| most.value.is_above(number) || (!most.exclusive && !number.is_above(most.value)));
        above && below && self.multiple_of.is_none_or(|divisor| number.is_multiple_of(divisor))
    }
}

/// Each of the rules of a text can be broken on its own.
pub(super) fn check_text(rules: &TextRules, text: &str, at: At<'_>, findings: &mut Findings) {
    if !rules.length.is_free() && !rules.length.admits(text.chars().count()) {
        findings.add(|| at.unlike(phrases::length(rules)));
    }
    if let Some(format) = rules.format.filter(|format| !format.accepts(text)) {
        findings.add(|| at.unlike(format!("string in the format {}", format.name())));
    }
    if let Some(pattern) = rules.pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
        findings.add(|| at.unlike(format!("text that matches `{pattern}`")));
    }
}
