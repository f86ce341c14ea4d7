//! Alternatives: which of the new ones takes the place of an old one.

use super::compare::{Comparison, Pair, Trial, peeled};
use super::difference::{Difference, Direction, Effect};
use super::{ChangeKind, kinds};
use crate::validate::check::Checker;
use crate::validate::schema::{Definitions, Kinds, ObjectRules, Rules, Schema};

impl<'s> Comparison<'s, '_> {
    /// A schema that is no alternative itself is the only one. `T` becomes `Option<T>` in this way.
    pub(super) fn either(&mut self, pair: &Pair<'s>, (old, new): (&'s Rules, &'s Rules)) {
        let list = |rules: &'s Rules, whole: &'s Schema| {
            rules.only_alternatives().map_or_else(|| vec![whole], |all| all.iter().collect::<Vec<_>>())
        };
        let (old_list, new_list) = (list(old, pair.old), list(new, pair.new));
        let Trial { found, relies } = self.matched(pair, &old_list, &new_list);
        // A value that fits two alternatives of a `oneOf` is refused, and so widening one can refuse values.
        let may_overlap = !new.one_of.is_empty() && (relies || !found.is_empty() || old.one_of.is_empty());
        if may_overlap && !self.are_disjoint(&new_list) {
            return self.find(&pair.path, Effect::Unclear, "has other alternatives (`oneOf`) that may overlap");
        }
        self.take_over(found);
    }

    fn matched(&self, pair: &Pair<'s>, old: &[&'s Schema], new: &[&'s Schema]) -> Trial {
        let labels =
            |list: &[&'s Schema], side: &'s Definitions| list.iter().map(|s| label(s, side)).collect::<Vec<_>>();
        let (old_labels, new_labels) = (labels(old, self.sides.old), labels(new, self.sides.new));
        let trial = |was: usize, is: usize| {
            let path = match &old_labels[was] {
                Some(label) if old.len() > 1 && new.len() > 1 => format!("{}({label})", pair.path),
                _ => pair.path.clone(),
            };
            self.trial(Pair { path, old: old[was], new: new[is], composed: pair.composed })
        };
        let mut all = Trial { found: Vec::new(), relies: false };
        let mut free: Vec<usize> = (0..new.len()).collect();
        let mut unmatched = Vec::new();
        for (was, label) in old_labels.iter().enumerate() {
            let (alike, others): (Vec<_>, Vec<_>) = free.iter().partition(|is| new_labels[**is] == *label);
            let mut candidates = alike.into_iter().chain(others).map(|is| (is, trial(was, is)));
            match candidates.find(|(_, trial)| trial.found.is_empty()) {
                Some((is, trial)) => {
                    free.retain(|index| *index != is);
                    all.relies |= trial.relies;
                }
                None => unmatched.push(was),
            }
        }
        for was in unmatched {
            let labelled = old_labels[was].as_ref();
            let partner = free.iter().copied().find(|is| labelled.is_some() && new_labels[*is].as_ref() == labelled);
            let covering = || (0..new.len()).find(|is| is_covered(&trial(was, *is).found));
            let alone = || free.iter().copied().find(|is| self.are_alone((old, was), (new, *is)));
            match partner.or_else(covering).or_else(alone) {
                Some(is) => {
                    free.retain(|index| *index != is);
                    all.found.extend(trial(was, is).found);
                }
                None => {
                    let message = format!("can no longer be {}", self.describe_old(old[was]));
                    all.found.push(Difference { path: pair.path.clone(), effect: Effect::Narrowed, message });
                }
            }
        }
        all.found.extend(free.into_iter().map(|is| {
            let message = format!("can also be {}", self.describe_new(new[is]));
            Difference { path: pair.path.clone(), effect: Effect::Widened, message }
        }));
        all
    }

    /// Whether the two are the only ones of their type, each on its side: the `T` of `Option<T>`, however it has changed.
    fn are_alone(&self, (old, was): (&[&Schema], usize), (new, is): (&[&Schema], usize)) -> bool {
        let kinds = |list: &[&Schema], side: &Definitions| -> Vec<Kinds> {
            list.iter().map(|schema| kinds::possible(schema, side)).collect()
        };
        let (old, new) = (kinds(old, self.sides.old), kinds(new, self.sides.new));
        let alone = |kinds: &[Kinds], index: usize| {
            kinds.iter().enumerate().all(|(other, kind)| other == index || kind.common(kinds[index]).is_empty())
        };
        old[was] == new[is] && alone(&old, was) && alone(&new, is)
    }

    fn are_disjoint(&self, schemas: &[&Schema]) -> bool {
        let apart = |a: &Schema, b: &Schema| are_apart(a, b, self.sides.new);
        schemas.iter().enumerate().all(|(index, a)| schemas[..index].iter().all(|b| apart(a, b)))
    }
}

/// Whether everything that the old alternative took is still taken.
fn is_covered(differences: &[Difference]) -> bool {
    differences.iter().all(|found| found.effect.kind(Direction::Sent) == ChangeKind::Compatible)
}

/// What an alternative is called: the definition it refers to, its only value, the value of its tag, its only key, its
/// title or its type.
fn label(schema: &Schema, definitions: &Definitions) -> Option<String> {
    let (rules, _) = peeled(schema, definitions);
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
    tag.or_else(key).or_else(|| rules.name.clone()).or_else(|| {
        let possible = kinds::possible(schema, definitions);
        (possible != Kinds::ALL).then(|| kinds::names(possible))
    })
}

fn word(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn tag_values<'s>(
    object: &'s ObjectRules,
    name: &str,
    definitions: &'s Definitions,
) -> Option<&'s [serde_json::Value]> {
    peeled(object.properties.get(name)?, definitions).0.allowed.as_deref()
}

/// Whether no value fits both.
fn are_apart(a: &Schema, b: &Schema, definitions: &Definitions) -> bool {
    let shared = kinds::possible(a, definitions).common(kinds::possible(b, definitions));
    let ((a_rules, _), (b_rules, _)) = (peeled(a, definitions), peeled(b, definitions));
    let refuses = |schema: &Schema, values: &[serde_json::Value]| {
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
    shared == Kinds::OBJECT && (have_other_tags(a, b, definitions) || lacks_a_key(a, b) || lacks_a_key(b, a))
}

fn have_other_tags(a: &ObjectRules, b: &ObjectRules, definitions: &Definitions) -> bool {
    a.required.iter().filter(|name| b.required.contains(name)).any(|name| {
        let values = tag_values(a, name, definitions).zip(tag_values(b, name, definitions));
        values.is_some_and(|(a, b)| a.iter().all(|a| b.iter().all(|b| !crate::validate::equality::equal(a, b))))
    })
}

/// Whether one requires what the other does not let pass.
fn lacks_a_key(a: &ObjectRules, b: &ObjectRules) -> bool {
    let closed = matches!(b.additional, Some(Schema::Nothing)) && b.patterns.is_empty();
    closed && a.required.iter().any(|name| !b.properties.contains_key(name))
}
