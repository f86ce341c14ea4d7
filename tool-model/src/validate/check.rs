//! The checker: walks a value along a schema and collects violations.

use std::collections::HashSet;

use serde_json::Value;

use super::describe::Describer;
use super::equality::equal;
use super::expectation::{Expectation, ValueList, quoted};
use super::findings::{Findings, ValueAt};
use super::path::PathCursor;
use super::scalar::{check_number, check_text};
use super::schema::{Definitions, JsonTypes, Schema, SchemaRules};
use super::violation::{Constraint, Violation, ViolationKind};

/// The number of schemas that may be open at once: five for each level of the deepest value that `serde_json` reads. At
/// one to two kilobytes each (unoptimized) they are far from exhausting the stack.
const DEEPEST_CHECK: u32 = 640;
/// The number of steps of one check. Overlapping alternatives can multiply the work at every level of the value.
const MOST_STEPS: u32 = 1_000_000;
/// The number of comparisons with listed values that count as one step.
const COMPARISONS: usize = 16;

/// One check of one value.
pub(crate) struct Checker<'s> {
    pub(super) definitions: &'s Definitions,
    depth: u32,
    steps: u32,
    exhausted: bool,
    /// If set, suggests the listed value that is most like the received one, which takes a while.
    suggests: bool,
    /// If set, objects with declared properties accept no others.
    pub(super) closed: bool,
}

impl<'s> Checker<'s> {
    pub(crate) fn new(definitions: &'s Definitions) -> Self {
        Self { definitions, depth: 0, steps: 0, exhausted: false, suggests: true, closed: false }
    }

    /// Switches suggestions off.
    pub(super) fn without_suggestions(mut self) -> Self {
        self.suggests = false;
        self
    }

    /// Rejects properties that an object schema does not declare.
    pub(super) fn closed(mut self) -> Self {
        self.closed = true;
        self
    }

    /// Returns at most `limit` violations.
    pub(super) fn violations(mut self, schema: &'s Schema, value: &Value, path: &str, limit: usize) -> Vec<Violation> {
        let path = PathCursor::Root(path);
        let at = ValueAt { value, path: &path };
        let mut findings = Findings::List { violations: Vec::new(), limit };
        self.check(schema, at, &mut findings);
        match findings {
            Findings::List { violations, .. } if !self.exhausted => without_repetition(violations),
            _ => vec![at.violation(ViolationKind::TooComplex)],
        }
    }

    pub(crate) fn accepts(mut self, schema: &'s Schema, value: &Value) -> bool {
        let fits = self.fits(schema, ValueAt { value, path: &PathCursor::Root("") });
        fits && !self.exhausted
    }

    pub(super) fn fits(&mut self, schema: &'s Schema, at: ValueAt<'_>) -> bool {
        let mut findings = Findings::Flag(false);
        self.check(schema, at, &mut findings);
        !findings.are_settled()
    }

    pub(super) fn check(&mut self, schema: &'s Schema, at: ValueAt<'_>, findings: &mut Findings) {
        match schema {
            Schema::Anything => {}
            Schema::Nothing => findings.add(|| at.invalid(Constraint::Forbidden, Expectation::Nothing)),
            Schema::Rules(rules) => self.bounded(|checker| checker.rules(rules, at, findings)),
        }
    }

    /// Runs one step. After too many steps the whole value is rejected.
    pub(super) fn bounded(&mut self, step: impl FnOnce(&mut Self)) {
        self.exhausted |= self.depth == DEEPEST_CHECK || self.steps >= MOST_STEPS;
        if self.exhausted {
            return;
        }
        self.depth += 1;
        self.steps += 1;
        step(self);
        self.depth -= 1;
    }

    fn rules(&mut self, rules: &'s SchemaRules, at: ValueAt<'_>, findings: &mut Findings) {
        // Comparisons count as steps, too: lists may be long, and many values may be compared with them.
        let listed = rules.allowed.as_ref().map_or(0, |allowed| allowed.len() / COMPARISONS);
        self.steps = self.steps.saturating_add(u32::try_from(listed).unwrap_or(u32::MAX));
        // A value of the wrong type breaks most other rules, too. Only the type is reported.
        if let Some(allowed) = rules.allowed.as_ref().filter(|allowed| !allowed.iter().any(|v| equal(v, at.value))) {
            return findings.add(|| at.violation(not_listed(at.value, allowed, self.suggests)));
        }
        if rules.kinds.is_some_and(|kinds| !kinds.has(JsonTypes::from_value(at.value))) {
            return findings.add(|| at.invalid(Constraint::Type, self.describer().rules(rules)));
        }
        if let Some(target) = self.referred(rules) {
            self.check(target, at, findings);
        }
        match at.value {
            Value::Number(number) => check_number(rules, number, at, findings),
            Value::String(text) => check_text(&rules.text, text, at, findings),
            Value::Array(items) => self.array(&rules.array, items, at, findings),
            Value::Object(object) => self.object(&rules.object, object, at, findings),
            Value::Null | Value::Bool(_) => {}
        }
        self.combinations(rules, at, findings);
        if let (Some(schema), Value::Object(object)) = (&rules.object.unevaluated, at.value) {
            self.unevaluated(schema, rules, object, at, findings);
        }
    }

    pub(super) fn referred(&self, rules: &SchemaRules) -> Option<&'s Schema> {
        rules.reference.as_ref().and_then(|name| self.definitions.get(name))
    }

    pub(super) fn describer(&self) -> Describer<'s> {
        Describer::new(self.definitions)
    }
}

/// Creates the violation by a value that is not listed. A long list is cut, so the nearest value is suggested.
fn not_listed(value: &Value, allowed: &[Value], suggests: bool) -> ViolationKind {
    let list = ValueList::new(allowed);
    let text = value.as_str().filter(|_| suggests && list.omitted > 0);
    let nearest = text.and_then(|text| {
        let texts = allowed.iter().filter_map(Value::as_str);
        crate::nearest(text, texts).into_iter().next()
    });
    ViolationKind::Invalid {
        constraint: Constraint::Values,
        expected: Expectation::Values(list),
        suggestion: nearest.map(|near| quoted(&near.into())),
        reason: None,
    }
}

/// Removes repetitions: two branches of an `allOf` may report the same violation.
fn without_repetition(violations: Vec<Violation>) -> Vec<Violation> {
    let mut seen = HashSet::new();
    let is_new: Vec<bool> =
        violations.iter().map(|violation| seen.insert((&violation.path, &violation.kind))).collect();
    violations.into_iter().zip(is_new).filter_map(|(violation, is_new)| is_new.then_some(violation)).collect()
}
