//! Rules for objects.

use serde_json::{Map, Value};

use super::check::Checker;
use super::equality::sorted;
use super::findings::{At, Findings};
use super::path::Path;
use super::phrases;
use super::schema::{ObjectRules, Rules, Schema};

type Object = Map<String, Value>;

impl<'s> Checker<'s> {
    pub(super) fn object(&mut self, rules: &'s ObjectRules, object: &Object, at: At<'_>, findings: &mut Findings) {
        if !rules.count.admits(object.len()) {
            findings.add(|| at.unlike(phrases::count(rules.count, "property", "properties").unwrap_or_default()));
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

    fn required(&self, rules: &ObjectRules, object: &Object, at: At<'_>, findings: &mut Findings) {
        let describe = |name: &str| {
            rules.properties.get(name).map_or_else(|| "any value".to_owned(), |schema| self.describer().schema(schema))
        };
        for missing in rules.required.iter().filter(|name| !object.contains_key(*name)) {
            findings.add(|| at.without(missing, describe(missing)));
        }
        for (given, needed) in rules.dependent_required.iter().filter(|(given, _)| object.contains_key(*given)) {
            for missing in needed.iter().filter(|name| !object.contains_key(*name)) {
                let why = format!("required because `{given}` is given");
                findings.add(|| at.without(missing, format!("{}, {why}", describe(missing))));
            }
        }
    }

    fn property(&mut self, rules: &'s ObjectRules, entry: (&str, &Value), at: At<'_>, findings: &mut Findings) {
        let (name, value) = entry;
        let path = Path::Property(at.path, name);
        let here = At { value, path: &path };
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
                findings.add(|| here.unlike(rules.unknown(name, object)));
            }
            Some(schema) => self.check(schema, here, findings),
        }
    }

    /// Checks the properties that no schema for this object knows (`unevaluatedProperties`).
    pub(super) fn unevaluated(
        &mut self,
        schema: &'s Schema,
        rules: &'s Rules,
        object: &Object,
        at: At<'_>,
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
            let here = At { value, path: &Path::Property(at.path, name) };
            match schema {
                Schema::Nothing => findings.add(|| {
                    let known = evaluating.iter().flat_map(|rules| rules.properties.keys()).map(String::as_str);
                    here.unlike(format!("unknown property; known are {}", phrases::names(known)))
                }),
                schema => self.check(schema, here, findings),
            }
        }
    }

    /// Collects the rules that hold for the same object: the schema's own, and those of all parts that apply. Returns
    /// `true` if a part says itself what holds for the properties that it does not know.
    fn evaluating(&mut self, rules: &'s Rules, object: &Object, at: At<'_>, found: &mut Vec<&'s ObjectRules>) -> bool {
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

    fn property_name(&mut self, names: &'s Schema, name: &str, here: At<'_>, findings: &mut Findings) {
        let value = Value::from(name);
        let name = At { value: &value, ..here };
        if !self.fits(names, name) {
            findings.add(|| name.unlike(format!("property name that fits: {}", self.describer().schema(names))));
        }
    }
}

impl ObjectRules {
    /// Whether a property is described, by its name, by a pattern, or as one of the others.
    fn knows(&self, name: &str) -> bool {
        self.additional.is_some()
            || self.properties.contains_key(name)
            || self.patterns.iter().any(|(pattern, _)| pattern.is_match(name))
    }

    /// What to say of a property that is not known; one that is already given cannot have been meant.
    fn unknown(&self, name: &str, object: &Object) -> String {
        let absent = self.properties.keys().map(String::as_str).filter(|known| !object.contains_key(*known));
        if let Some(near) = crate::nearest(name, absent).first() {
            return format!("unknown property; did you mean `{near}`?");
        }
        if !self.properties.is_empty() {
            return format!(
                "unknown property; known are {}",
                phrases::names(self.properties.keys().map(String::as_str))
            );
        }
        if self.patterns.is_empty() {
            return "unknown property; none is allowed here".to_owned();
        }
        let patterns = self.patterns.iter().map(|(pattern, _)| pattern.as_str());
        format!("unknown property; names must match one of {}", phrases::names(patterns))
    }
}
