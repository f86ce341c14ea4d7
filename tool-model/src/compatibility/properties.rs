//! Comparison of properties: a tool's arguments, or those of a struct.

use regex_lite::Regex;

use super::comparison::{ANYTHING, SchemaComparison, SchemaPair, property};
use super::difference::{DifferenceEffect, SchemaDifference, ValueDirection};
use super::{ARGUMENTS, ChangeKind, rename};
use crate::validate::schema::{ObjectRules, Schema};

/// The patterns that schemars uses for maps with unsigned and signed integer keys.
const INTEGER_NAMES: [&str; 2] = [r"^\d+$", r"^-?\d+$"];

impl<'s> SchemaComparison<'s, '_> {
    pub(super) fn objects(&mut self, path: &str, old: &'s ObjectRules, new: &'s ObjectRules, composed: bool) {
        self.counts(path, ["property", "properties"], old.count, new.count);
        for (name, was) in &old.properties {
            if let Some(is) = new.properties.get(name) {
                self.queue(property(path, name), was, is, composed);
                self.requirement(path, (old, name), (new, name));
            }
        }
        let mut gone: Vec<&str> = names_only_in(old, new);
        gone.retain(|name| !self.has_no_name_now(path, name, (old, new), composed));
        let mut added: Vec<&str> = names_only_in(new, old);
        gone.retain(|was| {
            let Some(is) = self.alias_target(was, old, new).filter(|is| added.contains(is)) else { return true };
            added.retain(|name| *name != is);
            self.aliased(path, was, is, new);
            self.queue(property(path, is), &old.properties[*was], &new.properties[is], composed);
            self.requirement(path, (old, was), (new, is));
            false
        });
        for (was, is) in self.renamed(old, new, &mut gone, &mut added) {
            self.lost(path, was, new, Some(is));
            self.queue(property(path, is), &old.properties[was], &new.properties[is], composed);
            self.requirement(path, (old, was), (new, is));
        }
        gone.into_iter().for_each(|name| self.lost(path, name, new, None));
        added.into_iter().for_each(|name| self.gained(path, name, (old, new), composed));
        self.demanded_without_name(path, old, new);
        self.unnamed(path, old, new, composed);
        self.rare_object_rules(path, old, new);
    }

    /// Compares a property that the new object does not name with the rules that it has for such properties. Returns
    /// `false` if it has none: then the property may be ignored, or refused.
    fn has_no_name_now(
        &mut self,
        path: &str,
        name: &str,
        (old, new): (&'s ObjectRules, &'s ObjectRules),
        composed: bool,
    ) -> bool {
        let here = property(path, name);
        let matching: Vec<_> = new.patterns.iter().filter(|(pattern, _)| pattern.is_match(name)).collect();
        let others = new.additional.as_ref().filter(|other| matching.is_empty() && !matches!(other, Schema::Nothing));
        let rules: Vec<_> = matching.into_iter().map(|(_, schema)| schema).chain(others).collect();
        for is in &rules {
            self.queue(here.clone(), &old.properties[name], is, composed);
        }
        if !rules.is_empty() {
            self.requirement(path, (old, name), (new, name));
        }
        !rules.is_empty()
    }

    /// Compares whether a property of both sides is required.
    fn requirement(&mut self, path: &str, (old, was): (&ObjectRules, &str), (new, is): (&ObjectRules, &str)) {
        let (effect, word) = match (is_required(old, was), is_required(new, is)) {
            (false, true) => (DifferenceEffect::Narrowed, "required"),
            (true, false) => (DifferenceEffect::Widened, "optional"),
            _ => return,
        };
        let message = match self.sides.direction {
            ValueDirection::Sent => format!("is now {word}"),
            ValueDirection::Returned if effect == DifferenceEffect::Widened => "may now be missing".to_owned(),
            ValueDirection::Returned => "is now always there".to_owned(),
        };
        self.report(&property(path, is), effect, message);
    }

    fn lost(&mut self, path: &str, name: &str, new: &ObjectRules, renamed: Option<&str>) {
        let what = match renamed {
            Some(new_name) => format!("was probably renamed to `{new_name}`"),
            None => "was removed".to_owned(),
        };
        let consequence = match (self.sides.direction, &new.additional) {
            (ValueDirection::Returned, _) => "callers that read it will miss it".to_owned(),
            // The aliases of arguments are known.
            (ValueDirection::Sent, Some(Schema::Nothing)) if path == ARGUMENTS => {
                "calls that send it are refused".to_owned()
            }
            (ValueDirection::Sent, additional) => {
                let is_closed = matches!(additional, Some(Schema::Nothing));
                let what = if is_closed { "calls that send it are refused" } else { "its value is ignored" };
                if self.knows_aliases(path) {
                    what.to_owned()
                } else {
                    let field = renamed.map_or("another field".to_owned(), |name| format!("`{name}`"));
                    format!("{what}, unless {field} has `#[serde(alias = {name:?})]`")
                }
            }
        };
        self.report(&property(path, name), DifferenceEffect::Lost, format!("{what}; {consequence}"));
    }

    fn gained(&mut self, path: &str, name: &str, (old, new): (&'s ObjectRules, &'s ObjectRules), composed: bool) {
        let here = property(path, name);
        let is = &new.properties[name];
        // The schema of values that were sent under this name before, if any.
        let was = match &old.additional {
            Some(Schema::Nothing) => None,
            Some(other) => Some(other),
            None if composed || old.properties.is_empty() => Some(&ANYTHING),
            None => None,
        };
        if old.patterns.iter().any(|(pattern, _)| pattern.is_match(name)) {
            return self.report(&here, DifferenceEffect::Unclear, "now has its own rules");
        }
        let required = is_required(new, name);
        if self.sides.direction == ValueDirection::Sent && required {
            self.report(&here, DifferenceEffect::Narrowed, "is new and required");
        }
        // An unnamed property could be sent before. It is not an addition if it accepts fewer values now.
        let direction = self.sides.direction;
        let differences =
            was.map(|was| self.trial(SchemaPair { path: here.clone(), old: was, new: is, composed }).found);
        let breaks = |found: &SchemaDifference| found.effect.kind(direction) == ChangeKind::Breaking;
        match direction {
            _ if differences.is_some_and(|found| found.iter().any(breaks)) => {}
            ValueDirection::Sent if required => {}
            ValueDirection::Sent => self.report(&here, DifferenceEffect::Gained, "is new and optional"),
            ValueDirection::Returned => self.report(&here, DifferenceEffect::Gained, "is new"),
        }
        if let Some(was) = was {
            self.queue(here, was, is, composed);
        }
    }

    /// Compares properties that are required without a schema.
    fn demanded_without_name(&mut self, path: &str, old: &ObjectRules, new: &ObjectRules) {
        let named = |name: &String| old.properties.contains_key(name) || new.properties.contains_key(name);
        let mut names: Vec<&String> = old.required.iter().chain(&new.required).filter(|name| !named(name)).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            self.requirement(path, (old, name), (new, name));
        }
    }

    /// Compares the rules for properties without a name.
    fn unnamed(&mut self, path: &str, old: &'s ObjectRules, new: &'s ObjectRules, composed: bool) {
        let closed = |rules: &ObjectRules| matches!(rules.additional, Some(Schema::Nothing));
        let other = |rules: &'s ObjectRules| rules.additional.as_ref().unwrap_or(&ANYTHING);
        let values = format!("{path}.*");
        let have_same_patterns = old.patterns.len() == new.patterns.len()
            && old.patterns.iter().zip(&new.patterns).all(|(was, is)| was.0.as_str() == is.0.as_str());
        match (old.patterns.as_slice(), new.patterns.as_slice()) {
            (was, is) if have_same_patterns => {
                for ((_, was), (_, is)) in was.iter().zip(is) {
                    self.queue(values.clone(), was, is, composed);
                }
            }
            // A map that accepts any key.
            (patterns, []) if closed(old) && !closed(new) => {
                let names = alternatives(patterns);
                self.report(
                    path,
                    DifferenceEffect::Widened,
                    format!("takes any property name; it was one that matches {names}"),
                );
                for (_, was) in patterns {
                    self.queue(values.clone(), was, other(new), composed);
                }
                return;
            }
            ([], patterns) if !closed(old) && closed(new) => {
                let names = alternatives(patterns);
                self.report(path, DifferenceEffect::Narrowed, format!("takes only property names that match {names}"));
                for (_, is) in patterns {
                    self.queue(values.clone(), other(old), is, composed);
                }
                return;
            }
            ([(old_names, was)], [(new_names, is)]) if closed(old) && closed(new) => {
                let effect = match [old_names.as_str(), new_names.as_str()] {
                    INTEGER_NAMES => DifferenceEffect::Widened,
                    [was, is] if [is, was] == INTEGER_NAMES => DifferenceEffect::Narrowed,
                    _ => DifferenceEffect::Unclear,
                };
                let message = format!("takes property names that match `{new_names}`; it was `{old_names}`");
                self.report(path, effect, message);
                self.queue(values.clone(), was, is, composed);
            }
            _ => {
                let message = "has different rules for names that match a pattern (`patternProperties`)";
                self.report(path, DifferenceEffect::Unclear, message);
            }
        }
        match (closed(old), closed(new)) {
            (true, true) => {}
            (false, true) => self.report(path, DifferenceEffect::Narrowed, "refuses unknown properties"),
            (true, false) => self.report(path, DifferenceEffect::Gained, "allows unknown properties"),
            (false, false) => self.queue(values, other(old), other(new), composed),
        }
    }

    fn rare_object_rules(&mut self, path: &str, old: &'s ObjectRules, new: &'s ObjectRules) {
        self.same_or_unclear(path, "propertyNames", old.names.as_ref(), new.names.as_ref());
        if old.dependent_required != new.dependent_required {
            self.report(path, DifferenceEffect::Unclear, "has different dependent properties (`dependentRequired`)");
        }
        let schemas = (&old.dependent_schemas, &new.dependent_schemas);
        let same = schemas.0.keys().eq(schemas.1.keys())
            && schemas.0.values().zip(schemas.1.values()).all(|(was, is)| self.is_same(was, is));
        if !same {
            self.report(path, DifferenceEffect::Unclear, "has different dependent rules (`dependentSchemas`)");
        }
    }

    /// Removes the likely pairs from both lists.
    fn renamed<'n>(
        &self,
        old: &'s ObjectRules,
        new: &'s ObjectRules,
        gone: &mut Vec<&'n str>,
        added: &mut Vec<&'n str>,
    ) -> Vec<(&'n str, &'n str)> {
        rename::pairs(gone, added, |was, is| {
            let pair =
                SchemaPair { path: String::new(), old: &old.properties[was], new: &new.properties[is], composed: true };
            let differences = self.trial(pair).found;
            if differences.is_empty() {
                rename::Likeness::Same
            } else if differences.iter().any(|found| found.path.is_empty() && found.effect == DifferenceEffect::Unclear)
            {
                rename::Likeness::Different
            } else {
                rename::Likeness::Similar
            }
        })
    }
}

pub(super) fn is_required(rules: &ObjectRules, name: &str) -> bool {
    rules.required.iter().any(|required| required == name)
}

fn names_only_in<'a>(here: &'a ObjectRules, there: &ObjectRules) -> Vec<&'a str> {
    here.properties.keys().filter(|name| !there.properties.contains_key(*name)).map(String::as_str).collect()
}

/// `` `^a` or `^b` ``
fn alternatives(patterns: &[(Regex, Schema)]) -> String {
    patterns.iter().map(|(pattern, _)| format!("`{pattern}`")).collect::<Vec<_>>().join(" or ")
}
