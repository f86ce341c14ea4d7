//! Comparison of alternatives (`anyOf`, `oneOf`).

use serde_json::Value;

use super::comparison::{SchemaComparison, SchemaPair, resolved};
use super::difference::{DifferenceEffect, SchemaDifference, ValueDirection};
use super::rules::listed;
use super::{ChangeKind, kinds};
use crate::validate::check::Checker;
use crate::validate::describe::Describer;
use crate::validate::schema::{Definitions, JsonTypes, ObjectRules, Schema, SchemaRules};

impl<'s> SchemaComparison<'s, '_> {
    /// Compares alternatives. A schema without alternatives is the only one: so `T` becomes `Option<T>`.
    pub(super) fn either(&mut self, pair: &SchemaPair<'s>, (old, new): (&'s SchemaRules, &'s SchemaRules)) {
        let old_list = list(old, pair.old, self.sides.old);
        let new_list = list(new, pair.new, self.sides.new);
        let (found, are_same) = self.matched(pair, &old_list, &new_list);
        // A value that matches two alternatives of a `oneOf` is refused, so widening one can refuse values.
        let may_overlap = !new.one_of.is_empty() && (!are_same || old.one_of.is_empty());
        if may_overlap && !self.are_disjoint(&new_list) {
            return self.report(
                &pair.path,
                DifferenceEffect::Unclear,
                "has different alternatives (`oneOf`) that may overlap",
            );
        }
        self.add_all(found);
    }

    /// Returns the differences, and whether both sides certainly have the same alternatives.
    fn matched(&self, pair: &SchemaPair<'s>, old: &[&'s Schema], new: &[&'s Schema]) -> (Vec<SchemaDifference>, bool) {
        let labels =
            |list: &[&'s Schema], side: &'s Definitions| list.iter().map(|s| label(s, side)).collect::<Vec<_>>();
        let (old_labels, new_labels) = (labels(old, self.sides.old), labels(new, self.sides.new));
        let trial = |was: usize, is: usize| {
            // The only alternative of a type needs no label.
            let is_type = old_labels[was] == type_label(old[was], self.sides.old);
            let path = match &old_labels[was] {
                Some(label) if old.len() > 1 && new.len() > 1 && !is_type => format!("{}({label})", pair.path),
                _ => pair.path.clone(),
            };
            self.trial(SchemaPair { path, old: old[was], new: new[is], composed: pair.composed })
        };
        let mut found = Vec::new();
        let mut are_same = true;
        let mut free: Vec<usize> = (0..new.len()).collect();
        let mut unmatched = Vec::new();
        for (was, label) in old_labels.iter().enumerate() {
            let (alike, others): (Vec<_>, Vec<_>) = free.iter().partition(|is| new_labels[**is] == *label);
            let mut candidates = alike.into_iter().chain(others).map(|is| (is, trial(was, is)));
            match candidates.find(|(_, trial)| trial.found.is_empty()) {
                Some((is, trial)) => {
                    free.retain(|index| *index != is);
                    are_same &= !trial.is_partial;
                }
                None => unmatched.push(was),
            }
        }
        are_same &= unmatched.is_empty() && free.is_empty();
        for was in unmatched {
            let labelled = old_labels[was].as_ref();
            let partner = free.iter().copied().find(|is| labelled.is_some() && new_labels[*is].as_ref() == labelled);
            let covering = || (0..new.len()).find(|is| is_covered(&trial(was, *is).found));
            let alone = || free.iter().copied().find(|is| self.are_alone((old, was), (new, *is)));
            let narrower = || free.iter().copied().find(|is| is_narrowed(&trial(was, *is).found));
            let described = || {
                let words = self.describe_old(old[was]);
                free.iter().copied().find(|is| self.describe_new(new[*is]) == words)
            };
            match partner.or_else(covering).or_else(alone).or_else(narrower).or_else(described) {
                Some(is) => {
                    free.retain(|index| *index != is);
                    found.extend(trial(was, is).found);
                }
                None => found.extend(self.lost_alternative(pair, old[was])),
            }
        }
        // An alternative is not an addition if an old one accepted as much.
        free.retain(|is| !(0..old.len()).any(|was| is_narrowed(&trial(was, *is).found)));
        found.extend(free.into_iter().filter_map(|is| self.gained_alternative(pair, new[is])));
        (found, are_same)
    }

    /// Reports a removed alternative. Several of the new alternatives may accept its listed values.
    fn lost_alternative(&self, pair: &SchemaPair<'s>, was: &'s Schema) -> Option<SchemaDifference> {
        let describer = Describer::new(self.sides.old);
        let values = describer.allowed(was).unwrap_or_default();
        let fits_new = |value: &&Value| Checker::new(self.sides.new).accepts(pair.new, value);
        let (kept, lost): (Vec<_>, Vec<_>) = values.iter().partition(fits_new);
        let message = match (kept.is_empty(), lost.is_empty()) {
            (true, _) => format!("can no longer be {}", self.describe_old(was)),
            (false, true) => return None,
            (false, false) => format!("no longer includes {}", listed(&lost)),
        };
        Some(SchemaDifference { path: pair.path.clone(), effect: DifferenceEffect::Narrowed, message })
    }

    /// Reports an added alternative. Several of the old alternatives may have accepted its listed values.
    fn gained_alternative(&self, pair: &SchemaPair<'s>, is: &'s Schema) -> Option<SchemaDifference> {
        let describer = Describer::new(self.sides.new);
        let values = describer.allowed(is).unwrap_or_default();
        let fits_old = |value: &&Value| Checker::new(self.sides.old).accepts(pair.old, value);
        let (known, gained): (Vec<_>, Vec<_>) = values.iter().partition(fits_old);
        let message = match (known.is_empty(), gained.is_empty()) {
            (true, _) => format!("can also be {}", self.describe_new(is)),
            (false, true) => return None,
            (false, false) => format!("now includes {}", listed(&gained)),
        };
        Some(SchemaDifference { path: pair.path.clone(), effect: DifferenceEffect::Widened, message })
    }

    /// Returns `true` if both are the only ones of their type on their side: the `T` of `Option<T>`, however it has
    /// changed.
    fn are_alone(&self, (old, was): (&[&Schema], usize), (new, is): (&[&Schema], usize)) -> bool {
        let kinds = |list: &[&Schema], side: &Definitions| -> Vec<JsonTypes> {
            list.iter().map(|schema| kinds::possible(schema, side)).collect()
        };
        let (old, new) = (kinds(old, self.sides.old), kinds(new, self.sides.new));
        let alone = |kinds: &[JsonTypes], index: usize| {
            kinds.iter().enumerate().all(|(other, kind)| other == index || kind.common(kinds[index]).is_empty())
        };
        old[was] == new[is] && alone(&old, was) && alone(&new, is)
    }

    fn are_disjoint(&self, schemas: &[&Schema]) -> bool {
        let apart = |a: &Schema, b: &Schema| are_apart(a, b, self.sides.new);
        schemas.iter().enumerate().all(|(index, a)| schemas[..index].iter().all(|b| apart(a, b)))
    }
}

/// Returns `true` if every value of the old alternative is still accepted.
fn is_covered(differences: &[SchemaDifference]) -> bool {
    differences.iter().all(|found| found.effect.kind(ValueDirection::Sent) == ChangeKind::Compatible)
}

/// Returns `true` if fewer values are accepted and nothing else has changed.
fn is_narrowed(differences: &[SchemaDifference]) -> bool {
    differences.iter().all(|found| found.effect == DifferenceEffect::Narrowed)
}

/// The largest number of alternatives that are compared, including those behind references.
const MOST_ALTERNATIVES: usize = 64;

/// Returns the alternatives of a schema, including those of referenced definitions.
fn list<'s>(rules: &'s SchemaRules, whole: &'s Schema, definitions: &'s Definitions) -> Vec<&'s Schema> {
    let Some(own) = rules.only_alternatives() else { return vec![whole] };
    let mut found = Vec::new();
    let mut waiting: Vec<&Schema> = own.iter().rev().collect();
    while let Some(schema) = waiting.pop() {
        let (inner, kinds) = resolved(schema, definitions);
        let can_be_joined = !rules.any_of.is_empty() && !inner.any_of.is_empty() && kinds == JsonTypes::ALL;
        match inner.only_alternatives() {
            Some(inner) if can_be_joined => waiting.extend(inner.iter().rev()),
            _ => found.push(schema),
        }
        if found.len() + waiting.len() > MOST_ALTERNATIVES {
            return own.iter().collect();
        }
    }
    found
}

/// Returns the label of an alternative: its definition's name, its only value, the value of its tag, its only key, its
/// title or its type.
fn label(schema: &Schema, definitions: &Definitions) -> Option<String> {
    let (rules, _) = resolved(schema, definitions);
    if let (Schema::Rules(outer), Some(name)) = (schema, &rules.name)
        && outer.is_only_a_reference()
    {
        return Some(name.clone());
    }
    if let Some(values) = &rules.allowed {
        return Some(values.iter().map(word).collect::<Vec<_>>().join("|"));
    }
    let object = &rules.object;
    let tag = object.required.iter().find_map(|name| match tag_values(object, name, definitions)? {
        [only] => Some(word(only)),
        _ => None,
    });
    let key = || match object.required.as_slice() {
        [only] if matches!(object.additional, Some(Schema::Nothing)) => Some(only.clone()),
        _ => None,
    };
    tag.or_else(key).or_else(|| rules.name.clone()).or_else(|| type_label(schema, definitions))
}

fn type_label(schema: &Schema, definitions: &Definitions) -> Option<String> {
    let possible = kinds::possible(schema, definitions);
    (possible != JsonTypes::ALL).then(|| kinds::names(possible))
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn tag_values<'s>(object: &'s ObjectRules, name: &str, definitions: &'s Definitions) -> Option<&'s [Value]> {
    resolved(object.properties.get(name)?, definitions).0.allowed.as_deref()
}

/// Returns `true` if no value matches both.
fn are_apart(a: &Schema, b: &Schema, definitions: &Definitions) -> bool {
    let shared = kinds::possible(a, definitions).common(kinds::possible(b, definitions));
    let ((a_rules, _), (b_rules, _)) = (resolved(a, definitions), resolved(b, definitions));
    let refuses = |schema: &Schema, values: &[Value]| {
        values.iter().all(|value| !Checker::new(definitions).accepts(schema, value))
    };
    if shared.is_empty() {
        return true;
    }
    if let Some(values) = &a_rules.allowed {
        return refuses(b, values);
    }
    if let Some(values) = &b_rules.allowed {
        return refuses(a, values);
    }
    let (a, b) = (&a_rules.object, &b_rules.object);
    shared == JsonTypes::OBJECT && (have_other_tags(a, b, definitions) || lacks_a_key(a, b) || lacks_a_key(b, a))
}

fn have_other_tags(a: &ObjectRules, b: &ObjectRules, definitions: &Definitions) -> bool {
    a.required.iter().filter(|name| b.required.contains(name)).any(|name| {
        let values = tag_values(a, name, definitions).zip(tag_values(b, name, definitions));
        values.is_some_and(|(a, b)| a.iter().all(|a| b.iter().all(|b| !crate::validate::equality::equal(a, b))))
    })
}

/// Returns `true` if one requires a property that the other refuses.
fn lacks_a_key(a: &ObjectRules, b: &ObjectRules) -> bool {
    let closed = matches!(b.additional, Some(Schema::Nothing)) && b.patterns.is_empty();
    closed && a.required.iter().any(|name| !b.properties.contains_key(name))
}
