//! Rules for objects.

use serde_json::{Map, Value};

use super::check::Checker;
use super::equality::sorted;
use super::expectation::{Expectation, NameList};
use super::findings::{Findings, ValueAt};
use super::path::PathCursor;
use super::schema::{ObjectRules, Schema, SchemaRules};
use super::violation::{Constraint, UnknownName, ViolationKind};

type Object = Map<String, Value>;

impl<'s> Checker<'s> {
    pub(super) fn object(&mut self, rules: &'s ObjectRules, object: &Object, at: ValueAt<'_>, findings: &mut Findings) {
        if !rules.count.admits(object.len()) {
            findings.add(|| at.invalid(Constraint::PropertyCount, Expectation::PropertyCount(rules.count)));
        }
        self.required(rules, object, at, findings);
        for (name, value) in sorted(object) {
            if findings.are_settled() {
                return;
            }
            self.property(rules, (name, value), at, findings);
        }
        for (_, schema) in rules.dependent_schemas.iter().filter(|(name, _)| object.contains_key(*name)) {
            self.check(schema, at, findings);
        }
    }

    fn required(&self, rules: &ObjectRules, object: &Object, at: ValueAt<'_>, findings: &mut Findings) {
        let describe = |name: &str| {
            rules.properties.get(name).map_or(Expectation::Anything, |schema| self.describer().schema(schema))
        };
        for missing in rules.required.iter().filter(|name| !object.contains_key(*name)) {
            findings.add(|| at.missing(missing, describe(missing), None));
        }
        for (given, needed) in rules.dependent_required.iter().filter(|(given, _)| object.contains_key(*given)) {
            for missing in needed.iter().filter(|name| !object.contains_key(*name)) {
                findings.add(|| at.missing(missing, describe(missing), Some(given)));
            }
        }
    }

    fn property(&mut self, rules: &'s ObjectRules, entry: (&str, &Value), at: ValueAt<'_>, findings: &mut Findings) {
        let (name, value) = entry;
        let path = PathCursor::Property(at.path, name);
        let here = ValueAt { value, path: &path };
        if let Some(names) = &rules.names {
            self.property_name(names, name, here, findings);
        }
        let known = rules.properties.get(name);
        let matched = rules.patterns.iter().filter(|(pattern, _)| pattern.is_match(name)).map(|(_, schema)| schema);
        let mut is_known = false;
        for schema in known.into_iter().chain(matched) {
            is_known = true;
            self.check(schema, here, findings);
        }
        match &rules.additional {
            _ if is_known => {}
            None if !self.closed || rules.properties.is_empty() => {}
            None | Some(Schema::Nothing) => {
                let Value::Object(object) = at.value else { return };
                findings.add(|| here.violation(ViolationKind::Unknown(rules.unknown(name, object))));
            }
            Some(schema) => self.check(schema, here, findings),
        }
    }

    /// Checks the properties that no other schema for this object evaluates (`unevaluatedProperties`).
    pub(super) fn unevaluated(
        &mut self,
        schema: &'s Schema,
        rules: &'s SchemaRules,
        object: &Object,
        at: ValueAt<'_>,
        findings: &mut Findings,
    ) {
        let mut evaluating = Vec::new();
        if self.evaluating(rules, object, at, &mut evaluating) {
            return;
        }
        for (name, value) in sorted(object) {
            if findings.are_settled() {
                return;
            }
            if evaluating.iter().any(|rules| rules.knows(name)) {
                continue;
            }
            let here = ValueAt { value, path: &PathCursor::Property(at.path, name) };
            match schema {
                Schema::Nothing => findings.add(|| {
                    let known = evaluating.iter().flat_map(|rules| rules.properties.keys()).map(String::as_str);
                    here.violation(ViolationKind::Unknown(UnknownName {
                        is_argument: false,
                        suggestion: None,
                        known: NameList::new(known),
                        patterns: NameList::default(),
                    }))
                }),
                schema => self.check(schema, here, findings),
            }
        }
    }

    /// Collects the rules that apply to the same object: of the schema itself and of all parts that apply. Returns `true` if
    /// a part has its own `unevaluatedProperties`, which settles the question.
    fn evaluating(
        &mut self,
        rules: &'s SchemaRules,
        object: &Object,
        at: ValueAt<'_>,
        found: &mut Vec<&'s ObjectRules>,
    ) -> bool {
        found.push(&rules.object);
        let mut parts: Vec<&'s Schema> = self.referred(rules).into_iter().chain(&rules.all_of).collect();
        parts.extend(rules.any_of.iter().chain(&rules.one_of).filter(|branch| self.fits(branch, at)));
        if let Some(condition) = &rules.condition {
            match self.fits(&condition.when, at) {
                true => parts.extend(std::iter::once(&condition.when).chain(&condition.then)),
                false => parts.extend(&condition.otherwise),
            }
        }
        let dependent = rules.object.dependent_schemas.iter().filter(|(name, _)| object.contains_key(*name));
        parts.extend(dependent.map(|(_, schema)| schema));
        let mut is_settled = false;
        for part in parts {
            if let Schema::Rules(part) = part {
                is_settled |= part.object.unevaluated.is_some();
                self.bounded(|checker| is_settled |= checker.evaluating(part, object, at, found));
            }
        }
        is_settled
    }

    fn property_name(&mut self, names: &'s Schema, name: &str, here: ValueAt<'_>, findings: &mut Findings) {
        let value = Value::from(name);
        let name = ValueAt { value: &value, ..here };
        if !self.fits(names, name) {
            findings.add(|| {
                let expected = Expectation::PropertyName(Box::new(self.describer().schema(names)));
                name.invalid(Constraint::PropertyName, expected)
            });
        }
    }
}

impl ObjectRules {
    /// Returns `true` if a keyword of this schema applies to the property.
    fn knows(&self, name: &str) -> bool {
        self.additional.is_some()
            || self.properties.contains_key(name)
            || self.patterns.iter().any(|(pattern, _)| pattern.is_match(name))
    }

    /// Describes an undeclared property. A property that is already present is not suggested.
    fn unknown(&self, name: &str, object: &Object) -> UnknownName {
        let absent = self.properties.keys().map(String::as_str).filter(|known| !object.contains_key(*known));
        UnknownName {
            is_argument: false,
            suggestion: crate::nearest(name, absent).first().map(ToString::to_string),
            known: NameList::new(self.properties.keys().map(String::as_str)),
            patterns: NameList::new(self.patterns.iter().map(|(pattern, _)| pattern.as_str())),
        }
    }
}
