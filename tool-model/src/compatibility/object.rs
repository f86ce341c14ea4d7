//! Two sets of properties: a tool's arguments, or those of a struct.

use super::compare::{ANYTHING, Comparison, Pair, property};
use super::difference::{Direction, Effect};
use super::rename;
use crate::validate::schema::{ObjectRules, Schema};

impl<'s> Comparison<'s, '_> {
    pub(super) fn objects(&mut self, path: &str, old: &'s ObjectRules, new: &'s ObjectRules, composed: bool) {
        self.counts(path, ["property", "properties"], old.count, new.count);
        for (name, was) in &old.properties {
            if let Some(is) = new.properties.get(name) {
                self.look_at(property(path, name), was, is, composed);
                self.requirement(path, (old, name), (new, name));
            }
        }
        let mut gone: Vec<&str> = names_only_in(old, new);
        let mut added: Vec<&str> = names_only_in(new, old);
        for (was, is) in self.renamed(old, new, &mut gone, &mut added) {
            self.lost(path, was, new, Some(is));
            self.look_at(property(path, is), &old.properties[was], &new.properties[is], composed);
            self.requirement(path, (old, was), (new, is));
        }
        gone.into_iter().for_each(|name| self.lost(path, name, new, None));
        added.into_iter().for_each(|name| self.gained(path, name, (old, new), composed));
        self.demanded_without_name(path, old, new);
        self.unnamed(path, old, new, composed);
        self.rare_object_rules(path, old, new);
    }

    /// A property that is there on both sides: `required` on one of them only?
    fn requirement(&mut self, path: &str, (old, was): (&ObjectRules, &str), (new, is): (&ObjectRules, &str)) {
        let required = |rules: &ObjectRules, name: &str| rules.required.iter().any(|required| required == name);
        let (effect, word) = match (required(old, was), required(new, is)) {
            (false, true) => (Effect::Narrowed, "required"),
            (true, false) => (Effect::Widened, "optional"),
            _ => return,
        };
        let message = match self.sides.direction {
            Direction::Sent => format!("is now {word}"),
            Direction::Returned if effect == Effect::Widened => "may now be missing".to_owned(),
            Direction::Returned => "is now always there".to_owned(),
        };
        self.find(&property(path, is), effect, message);
    }

    fn lost(&mut self, path: &str, name: &str, new: &ObjectRules, renamed: Option<&str>) {
        let what = match renamed {
            Some(new_name) => format!("was renamed to `{new_name}`, it seems"),
            None => "is gone".to_owned(),
        };
        let consequence = match (self.sides.direction, &new.additional) {
            (Direction::Returned, _) => "callers that read it miss it",
            (Direction::Sent, Some(Schema::Nothing)) => "calls that send it are refused",
            (Direction::Sent, _) => "what is sent for it is ignored",
        };
        self.find(&property(path, name), Effect::Lost, format!("{what}; {consequence}"));
    }

    fn gained(&mut self, path: &str, name: &str, (old, new): (&'s ObjectRules, &'s ObjectRules), composed: bool) {
        let here = property(path, name);
        let is = &new.properties[name];
        // What was sent under this name before, if anything was.
        let was = match &old.additional {
            Some(Schema::Nothing) => None,
            Some(other) => Some(other),
            None if composed || old.properties.is_empty() => Some(&ANYTHING),
            None => None,
        };
        if old.patterns.iter().any(|(pattern, _)| pattern.is_match(name)) {
            return self.find(&here, Effect::Unclear, "has rules of its own now");
        }
        let required = new.required.iter().any(|required| required == name);
        match (self.sides.direction, required) {
            (Direction::Sent, true) => self.find(&here, Effect::Narrowed, "is new and required"),
            (Direction::Sent, false) => self.find(&here, Effect::Gained, "is new and optional"),
            (Direction::Returned, _) => self.find(&here, Effect::Gained, "is new"),
        }
        if let Some(was) = was {
            self.look_at(here, was, is, composed);
        }
    }

    /// A property can be required without being described.
    fn demanded_without_name(&mut self, path: &str, old: &ObjectRules, new: &ObjectRules) {
        let named = |name: &String| old.properties.contains_key(name) || new.properties.contains_key(name);
        let mut names: Vec<&String> = old.required.iter().chain(&new.required).filter(|name| !named(name)).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            self.requirement(path, (old, name), (new, name));
        }
    }

    /// The properties that have no name in the schema.
    fn unnamed(&mut self, path: &str, old: &'s ObjectRules, new: &'s ObjectRules, composed: bool) {
        let closed = |rules: &ObjectRules| matches!(rules.additional, Some(Schema::Nothing));
        match (closed(old), closed(new)) {
            (true, true) => {}
            (false, true) => self.find(path, Effect::Narrowed, "refuses properties that it does not know"),
            (true, false) => self.find(path, Effect::Gained, "lets properties pass that it does not know"),
            (false, false) => {
                let other = |rules: &'s ObjectRules| rules.additional.as_ref().unwrap_or(&ANYTHING);
                self.look_at(format!("{path}.*"), other(old), other(new), composed);
            }
        }
        let patterns = old.patterns.iter().zip(&new.patterns);
        let same = old.patterns.len() == new.patterns.len()
            && patterns.into_iter().all(|(was, is)| was.0.as_str() == is.0.as_str() && self.is_same(&was.1, &is.1));
        if !same {
            self.find(path, Effect::Unclear, "has other rules for names that match a pattern (`patternProperties`)");
        }
    }

    fn rare_object_rules(&mut self, path: &str, old: &'s ObjectRules, new: &'s ObjectRules) {
        self.rare(path, "propertyNames", old.names.as_ref(), new.names.as_ref());
        if old.dependent_required != new.dependent_required {
            self.find(path, Effect::Unclear, "has other dependent properties (`dependentRequired`)");
        }
        let schemas = (&old.dependent_schemas, &new.dependent_schemas);
        let same = schemas.0.keys().eq(schemas.1.keys())
            && schemas.0.values().zip(schemas.1.values()).all(|(was, is)| self.is_same(was, is));
        if !same {
            self.find(path, Effect::Unclear, "has other dependent rules (`dependentSchemas`)");
        }
    }

    /// Takes the likely pairs out of both lists.
    fn renamed<'n>(
        &self,
        old: &'s ObjectRules,
        new: &'s ObjectRules,
        gone: &mut Vec<&'n str>,
        added: &mut Vec<&'n str>,
    ) -> Vec<(&'n str, &'n str)> {
        rename::pairs(gone, added, |was, is| {
            let pair =
                Pair { path: String::new(), old: &old.properties[was], new: &new.properties[is], composed: true };
            let differences = self.trial(pair).found;
            if differences.is_empty() {
                rename::Likeness::Same
            } else if differences.iter().any(|found| found.path.is_empty() && found.effect == Effect::Unclear) {
                rename::Likeness::Different
            } else {
                rename::Likeness::Similar
            }
        })
    }
}

fn names_only_in<'a>(here: &'a ObjectRules, there: &ObjectRules) -> Vec<&'a str> {
    here.properties.keys().filter(|name| !there.properties.contains_key(*name)).map(String::as_str).collect()
}
