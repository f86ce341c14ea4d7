//! Walks a value along a schema and finds what does not fit.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Violation;
use super::describe::Describer;
use super::equality::equal;
use super::findings::{At, Findings};
use super::path::Path;
use super::phrases;
use super::scalar::{check_number, check_text};
use super::schema::{Definitions, Kinds, Rules, Schema};

/// How many schemas may be open at once: five for each level of the deepest value that `serde_json` reads, and at
/// one to two kilobytes each (unoptimised) far from exhausting the stack.
const DEEPEST_CHECK: u32 = 640;
/// Schemas with overlapping alternatives can multiply the work at every level of the value.
const MOST_STEPS: u32 = 1_000_000;
/// How many comparisons with listed values take as long as a step.
const COMPARISONS: usize = 16;

/// One check of one value.
pub(crate) struct Checker<'s> {
    pub(super) definitions: &'s Definitions,
    depth: u32,
    steps: u32,
    exhausted: bool,
    /// Whether it is looked for what was probably meant, which takes a while.
    guesses: bool,
    /// If set, objects that name properties take no others.
    pub(super) closed: bool,
}

impl<'s> Checker<'s> {
    pub(crate) fn new(definitions: &'s Definitions) -> Self {
        Self { definitions, depth: 0, steps: 0, exhausted: false, guesses: true, closed: false }
    }

    /// Without guesses at what was meant.
    pub(super) fn plainly(mut self) -> Self {
        self.guesses = false;
        self
    }

    /// Refuses properties that an object does not name.
    pub(super) fn closed(mut self) -> Self {
        self.closed = true;
        self
    }

    /// What is wrong with the value, up to so many violations.
    pub(super) fn violations(mut self, schema: &'s Schema, value: &Value, path: &str, most: usize) -> Vec<Violation> {
        let path = Path::Start(path);
        let at = At { value, path: &path };
        let mut findings = Findings::Listed { violations: Vec::new(), most };
        self.check(schema, at, &mut findings);
        match findings {
            Findings::Listed { violations, .. } if !self.exhausted => without_repetition(violations),
            _ => vec![at.unlike("a smaller or less deeply nested value: this one is too much to check".to_owned())],
        }
    }

    pub(crate) fn accepts(mut self, schema: &'s Schema, value: &Value) -> bool {
        let fits = self.fits(schema, At { value, path: &Path::Start("") });
        fits && !self.exhausted
    }

    pub(super) fn fits(&mut self, schema: &'s Schema, at: At<'_>) -> bool {
        let mut findings = Findings::Whether(false);
        self.check(schema, at, &mut findings);
        !findings.are_settled()
    }

    pub(super) fn check(&mut self, schema: &'s Schema, at: At<'_>, findings: &mut Findings) {
        match schema {
            Schema::Anything => {}
            Schema::Nothing => findings.add(|| at.unlike("nothing; leave it out".to_owned())),
            Schema::Rules(rules) => self.bounded(|checker| checker.rules(rules, at, findings)),
        }
    }

    /// Runs one step, unless there have been too many: then the value is refused, whatever else is found.
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

    fn rules(&mut self, rules: &'s Rules, at: At<'_>, findings: &mut Findings) {
        // Comparisons are steps, too: lists may be long, and many values be compared with them.
        let listed = rules.allowed.as_ref().map_or(0, |allowed| allowed.len() / COMPARISONS);
        self.steps = self.steps.saturating_add(u32::try_from(listed).unwrap_or(u32::MAX));
        // A value of the wrong type is told what the type is; the other rules would only repeat it.
        if let Some(allowed) = rules.allowed.as_ref().filter(|allowed| !allowed.iter().any(|v| equal(v, at.value))) {
            return findings.add(|| at.unlike(not_listed(at.value, allowed, self.guesses)));
        }
        if rules.kinds.is_some_and(|kinds| !kinds.has(Kinds::of(at.value))) {
            return findings.add(|| at.unlike(self.describer().rules(rules)));
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

    pub(super) fn referred(&self, rules: &Rules) -> Option<&'s Schema> {
        rules.reference.as_ref().and_then(|name| self.definitions.get(name))
    }

    pub(super) fn describer(&self) -> Describer<'s> {
        Describer::new(self.definitions)
    }
}

/// A long list is not shown in full, so the value that was probably meant is named.
fn not_listed(value: &Value, allowed: &[Value], guess: bool) -> String {
    let texts = allowed.iter().filter_map(Value::as_str);
    let near = value.as_str().filter(|_| guess && !phrases::is_shown_in_full(allowed));
    match near.and_then(|text| crate::nearest(text, texts).into_iter().next()) {
        Some(near) => format!("{}; did you mean {}?", phrases::one_of_values(allowed), phrases::quoted(&near.into())),
        None => phrases::one_of_values(allowed),
    }
}

/// Two branches of an `allOf` may find the same.
fn without_repetition(mut violations: Vec<Violation>) -> Vec<Violation> {
    let mut seen = BTreeSet::new();
    violations.retain(|violation| seen.insert((violation.path.clone(), violation.expected.clone())));
    violations
}
