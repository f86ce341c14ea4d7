//! Comparison of the rules of two schemas, one by one.

use std::cmp::Ordering;

use serde_json::Value;

use super::comparison::{ANYTHING, SchemaComparison, SchemaPair, resolved};
use super::difference::DifferenceEffect;
use super::{facts, kinds};
use crate::validate::check::Checker;
use crate::validate::expectation::{CountRange, quoted};
use crate::validate::number::ExactNumber;
use crate::validate::schema::{
    ArrayRules, Definitions, JsonTypes, NumberLimit, NumberRules, ObjectRules, Schema, SchemaRules, TextRules,
};

impl<'s> SchemaComparison<'s, '_> {
    pub(super) fn pair(&mut self, pair: &SchemaPair<'s>) {
        let (old, old_type) = resolved(pair.old, self.sides.old);
        let (new, new_type) = resolved(pair.new, self.sides.new);
        match (old.is_free() && old_type == JsonTypes::ALL, new.is_free() && new_type == JsonTypes::ALL) {
            (true, true) => return,
            (false, true) => {
                let message = format!("can be any value; it was {}", self.describe_old(pair.old));
                return self.report(&pair.path, DifferenceEffect::Widened, message);
            }
            (true, false) => {
                let message = format!("must be {}; it was any value", self.describe_new(pair.new));
                return self.report(&pair.path, DifferenceEffect::Narrowed, message);
            }
            (false, false) => {}
        }
        if old.allowed.is_some() || new.allowed.is_some() {
            return self.values(pair, old.allowed.as_deref(), new);
        }
        let possible = (kinds::possible(pair.old, self.sides.old), kinds::possible(pair.new, self.sides.new));
        if old.only_alternatives().is_some() || new.only_alternatives().is_some() {
            // A type beside the alternatives, or beside a reference to them.
            if new.only_alternatives().is_some() {
                self.types(pair, possible.0, possible.0.common(new_type));
            }
            if old.only_alternatives().is_some() {
                self.types(pair, possible.1.common(old_type), possible.1);
            }
            return self.either(pair, (old, new));
        }
        if !self.types(pair, possible.0, possible.1) {
            return;
        }
        let common = possible.0.common(possible.1);
        let path = &pair.path;
        let is_format_settled = self.conversions(path, old, new);
        if common.has(JsonTypes::INTEGER.with(JsonTypes::NUMBER)) {
            self.numbers(path, old, new, !common.has(JsonTypes::NUMBER));
        }
        if common.has(JsonTypes::STRING) {
            self.texts(path, &old.text, &new.text, is_format_settled);
        }
        let composed = pair.composed || is_composed(old) || is_composed(new);
        if common.has(JsonTypes::ARRAY) {
            self.arrays(path, &old.array, &new.array, composed);
        }
        if common.has(JsonTypes::OBJECT) {
            self.objects(path, &old.object, &new.object, composed);
            self.unevaluated(path, old, new);
        }
        self.combinations(path, old, new);
    }

    /// Compares schemas that list values. Each listed value is checked against the other schema.
    fn values(&mut self, pair: &SchemaPair<'s>, old: Option<&'s [Value]>, new_rules: &'s SchemaRules) {
        let new = new_rules.allowed.as_deref();
        let fits_old = |value: &&Value| Checker::new(self.sides.old).accepts(pair.old, value);
        let fits_new = |value: &&Value| Checker::new(self.sides.new).accepts(pair.new, value);
        let lost = old.unwrap_or_default().iter().filter(fits_old).filter(|v| !fits_new(v));
        let (aliased, lost): (Vec<_>, Vec<_>) =
            lost.partition(|value| self.is_variant_alias(&pair.path, value, new_rules));
        let gained: Vec<_> = new.unwrap_or_default().iter().filter(fits_new).filter(|v| !fits_old(v)).collect();
        let path = &pair.path;
        if old.is_none() || (new.is_some() && !lost.is_empty() && lost.len() == old.map_or(0, <[_]>::len)) {
            let message = format!("must be {}; it was {}", self.describe_new(pair.new), self.describe_old(pair.old));
            let effect = if gained.is_empty() { DifferenceEffect::Narrowed } else { DifferenceEffect::Unclear };
            return self.report(path, effect, message);
        }
        if !lost.is_empty() {
            self.report(path, DifferenceEffect::Narrowed, format!("no longer includes {}", listed(&lost)));
        }
        if !aliased.is_empty() {
            let message = format!("no longer lists {}, which is still read (`#[serde(alias)]`)", listed(&aliased));
            self.report(path, DifferenceEffect::Gained, message);
        }
        if new.is_none() {
            let message = format!("can be {}; it was {}", self.describe_new(pair.new), self.describe_old(pair.old));
            self.report(path, DifferenceEffect::Widened, message);
        } else if !gained.is_empty() {
            self.report(path, DifferenceEffect::Widened, format!("now includes {}", listed(&gained)));
        }
    }

    /// Compares the types. Returns `true` if there is a type that both accept.
    fn types(&mut self, pair: &SchemaPair<'s>, old: JsonTypes, new: JsonTypes) -> bool {
        let (lost, gained) = (old.without(new), new.without(old));
        let path = &pair.path;
        if old.common(new).is_empty() && old != new {
            let message = format!("must be {}; it was {}", self.describe_new(pair.new), self.describe_old(pair.old));
            self.report(path, DifferenceEffect::Unclear, message);
            return false;
        }
        if !lost.is_empty() {
            self.report(path, DifferenceEffect::Narrowed, format!("can no longer be {}", kinds::names(lost)));
        }
        if !gained.is_empty() {
            self.report(path, DifferenceEffect::Widened, format!("can also be {}", kinds::names(gained)));
        }
        true
    }

    fn numbers(&mut self, path: &str, old: &SchemaRules, new: &SchemaRules, integers: bool) {
        let [[old_least, old_most], [new_least, new_most]] = facts::bounds(old, new);
        let (old, new) = (&old.number, &new.number);
        let is_known = old_most.is_some() || new_most.is_some();
        let note = match integers && !is_known && may_have_become_signed(old, new) {
            true => format!("; if its type is `i64` now, it must be at most {}", i64::MAX),
            false => String::new(),
        };
        self.bound(path, ["at least", "more than", &note], (old_least, new_least), Ordering::Greater);
        self.bound(path, ["at most", "less than", ""], (old_most, new_most), Ordering::Less);
        match (old.multiple_of, new.multiple_of) {
            (None, None) => {}
            (None, Some(new)) => self.report(path, DifferenceEffect::Narrowed, format!("must be a multiple of {new}")),
            (Some(old), None) => {
                self.report(path, DifferenceEffect::Widened, format!("need not be a multiple of {old}"))
            }
            (Some(old), Some(new)) => {
                let effect = match (old.is_multiple_of(new), new.is_multiple_of(old)) {
                    (true, true) => return,
                    (true, false) => DifferenceEffect::Widened,
                    (false, true) => DifferenceEffect::Narrowed,
                    (false, false) => DifferenceEffect::Unclear,
                };
                self.report(path, effect, format!("must be a multiple of {new}; it was of {old}"));
            }
        }
    }

    fn bound(
        &mut self,
        path: &str,
        [inclusive, exclusive, note]: [&str; 3],
        (old, new): (Option<NumberLimit>, Option<NumberLimit>),
        tighter: Ordering,
    ) {
        let words =
            |bound: NumberLimit| format!("{} {}", if bound.exclusive { exclusive } else { inclusive }, bound.value);
        match (old, new) {
            (None, None) => {}
            (None, Some(new)) => self.report(path, DifferenceEffect::Narrowed, format!("must be {}", words(new))),
            (Some(old), None) => {
                self.report(path, DifferenceEffect::Widened, format!("need not be {}{note}", words(old)))
            }
            (Some(old), Some(new)) => {
                let order = new.value.compare(old.value);
                let effect = match (old.exclusive, new.exclusive) {
                    (old, new) if order.is_eq() && old == new => return,
                    (_, is_exclusive) if order.is_eq() && is_exclusive => DifferenceEffect::Narrowed,
                    _ if order == tighter => DifferenceEffect::Narrowed,
                    _ => DifferenceEffect::Widened,
                };
                self.report(path, effect, format!("must be {}; it was {}{note}", words(new), words(old)));
            }
        }
    }

    fn texts(&mut self, path: &str, old: &TextRules, new: &TextRules, is_format_settled: bool) {
        self.counts(path, ["character", "characters"], old.length, new.length);
        let old_pattern = old.pattern.as_ref().map(|pattern| format!("`{pattern}`"));
        let new_pattern = new.pattern.as_ref().map(|pattern| format!("`{pattern}`"));
        self.demand(path, "match", old_pattern, new_pattern);
        if !is_format_settled {
            self.demand(path, "have the format", old.format.map(|f| f.name()), new.format.map(|f| f.name()));
        }
    }

    /// Compares a pattern or a format. Nothing is known about two different ones.
    fn demand<T: PartialEq + std::fmt::Display>(&mut self, path: &str, verb: &str, old: Option<T>, new: Option<T>) {
        match (old, new) {
            (Some(old), None) => self.report(path, DifferenceEffect::Widened, format!("need not {verb} {old}")),
            (None, Some(new)) => self.report(path, DifferenceEffect::Narrowed, format!("must {verb} {new}")),
            (Some(old), Some(new)) if old != new => {
                self.report(path, DifferenceEffect::Unclear, format!("must {verb} {new}; it was {old}"));
            }
            _ => {}
        }
    }

    pub(super) fn counts(&mut self, path: &str, [one, many]: [&str; 2], old: CountRange, new: CountRange) {
        let noun = |count: u64| if count == 1 { one } else { many };
        let (was, is) = (old.least.unwrap_or(0), new.least.unwrap_or(0));
        if was != is {
            let effect = if is > was { DifferenceEffect::Narrowed } else { DifferenceEffect::Widened };
            self.report(path, effect, format!("must have at least {is} {}; it was {was}", noun(is)));
        }
        let effect = match (old.most.unwrap_or(u64::MAX), new.most.unwrap_or(u64::MAX)) {
            (was, is) if was == is => return,
            (was, is) if is < was => DifferenceEffect::Narrowed,
            _ => DifferenceEffect::Widened,
        };
        let message = match (old.most, new.most) {
            (Some(was), Some(is)) => format!("must have at most {is} {}; it was {was}", noun(is)),
            (_, Some(is)) => format!("must have at most {is} {}", noun(is)),
            (was, None) => format!("can have more than {} {many}", was.unwrap_or(u64::MAX)),
        };
        self.report(path, effect, message);
    }

    fn arrays(&mut self, path: &str, old: &'s ArrayRules, new: &'s ArrayRules, composed: bool) {
        let (old_count, new_count) = (old.possible_count(), new.possible_count());
        self.counts(path, ["item", "items"], old_count, new_count);
        let fixed = old.prefix.len().max(new.prefix.len());
        let most = old_count.most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
        for index in 0..fixed.min(most) {
            let (was, is) = (item(old, index), item(new, index));
            self.queue(format!("{path}[{index}]"), was, is, composed);
        }
        let (was, is) = (item(old, usize::MAX), item(new, usize::MAX));
        // The number of items covers `items: false`.
        if most > fixed && !matches!(was, Schema::Nothing) && !matches!(is, Schema::Nothing) {
            self.queue(format!("{path}[]"), was, is, composed);
        }
        match (old.unique, new.unique) {
            (false, true) => self.report(path, DifferenceEffect::Narrowed, "must not repeat an item"),
            (true, false) => self.report(path, DifferenceEffect::Widened, "may repeat items"),
            _ => {}
        }
        let schema = |rules: &'s ArrayRules| rules.contains.as_ref().map(|contains| &contains.schema);
        self.same_or_unclear(path, "contains", schema(old), schema(new));
        if let (Some(was), Some(is)) = (&old.contains, &new.contains)
            && was.count != is.count
        {
            self.report(path, DifferenceEffect::Unclear, "must contain another number of certain items");
        }
    }

    fn combinations(&mut self, path: &str, old: &'s SchemaRules, new: &'s SchemaRules) {
        let reference = |rules: &'s SchemaRules, side: &'s crate::validate::schema::Definitions| {
            rules.reference.as_ref().map(|name| side.get(name).unwrap_or(&ANYTHING))
        };
        match (reference(old, self.sides.old), reference(new, self.sides.new)) {
            (None, None) => {}
            (Some(was), Some(is)) => self.queue(path.to_owned(), was, is, true),
            _ => self.report(path, DifferenceEffect::Unclear, "is composed differently"),
        }
        for (was, is) in old.all_of.iter().zip(&new.all_of) {
            self.queue(path.to_owned(), was, is, true);
        }
        match old.all_of.len().cmp(&new.all_of.len()) {
            Ordering::Less => self.report(path, DifferenceEffect::Narrowed, "must match one more schema (`allOf`)"),
            Ordering::Greater => self.report(path, DifferenceEffect::Widened, "must match one schema less (`allOf`)"),
            Ordering::Equal => {}
        }
        for (keyword, was, is) in [("anyOf", &old.any_of, &new.any_of), ("oneOf", &old.one_of, &new.one_of)] {
            if was.len() != is.len() || !was.iter().zip(is).all(|(was, is)| self.is_same(was, is)) {
                self.report(path, DifferenceEffect::Unclear, format!("has different alternatives (`{keyword}`)"));
            }
        }
        self.same_or_unclear(path, "not", old.not.as_ref(), new.not.as_ref());
        match (&old.condition, &new.condition) {
            (None, None) => {}
            (None, Some(_)) => self.report(path, DifferenceEffect::Narrowed, "has a condition (`if`)"),
            (Some(_), None) => self.report(path, DifferenceEffect::Widened, "has no condition (`if`) any more"),
            (Some(was), Some(is)) => {
                let then = (was.then.as_ref().unwrap_or(&ANYTHING), is.then.as_ref().unwrap_or(&ANYTHING));
                let otherwise =
                    (was.otherwise.as_ref().unwrap_or(&ANYTHING), is.otherwise.as_ref().unwrap_or(&ANYTHING));
                let same = [(&was.when, &is.when), then, otherwise].iter().all(|(was, is)| self.is_same(was, is));
                if !same {
                    self.report(path, DifferenceEffect::Unclear, "has a different condition (`if`)");
                }
            }
        }
    }

    /// Compares `unevaluatedProperties`, whose meaning depends on the schemas beside it.
    fn unevaluated(&mut self, path: &str, old: &'s SchemaRules, new: &'s SchemaRules) {
        const KEYWORD: &str = "unevaluatedProperties";
        self.same_or_unclear(path, KEYWORD, old.object.unevaluated.as_ref(), new.object.unevaluated.as_ref());
        if old.object.unevaluated.is_none() || new.object.unevaluated.is_none() {
            return;
        }
        let (was, is) = (&old.object, &new.object);
        let patterns = |rules: &ObjectRules| -> Vec<String> {
            rules.patterns.iter().map(|(pattern, _)| pattern.as_str().to_owned()).collect()
        };
        let referred = |rules: &'s SchemaRules, definitions: &'s Definitions| {
            rules.reference.as_ref().map(|name| definitions.get(name).unwrap_or(&ANYTHING))
        };
        let parts = |rules: &'s SchemaRules, definitions| -> Vec<&'s Schema> {
            rules.in_place().chain(referred(rules, definitions)).collect()
        };
        let (old_parts, new_parts) = (parts(old, self.sides.old), parts(new, self.sides.new));
        let leaves_the_same = was.properties.keys().eq(is.properties.keys())
            && patterns(was) == patterns(is)
            && was.additional.is_some() == is.additional.is_some()
            && old_parts.len() == new_parts.len()
            && old_parts.iter().zip(&new_parts).all(|(was, is)| self.is_same(was, is));
        if !leaves_the_same {
            self.report(
                path,
                DifferenceEffect::Unclear,
                format!("has a different rule for other properties (`{KEYWORD}`)"),
            );
        }
    }

    /// Compares a rare keyword only for equality.
    pub(super) fn same_or_unclear(
        &mut self,
        path: &str,
        keyword: &str,
        old: Option<&'s Schema>,
        new: Option<&'s Schema>,
    ) {
        match (old, new) {
            (None, None) => {}
            (None, Some(_)) => {
                self.report(path, DifferenceEffect::Narrowed, format!("has an additional rule (`{keyword}`)"))
            }
            (Some(_), None) => self.report(path, DifferenceEffect::Widened, format!("has one rule less (`{keyword}`)")),
            (Some(was), Some(is)) if self.is_same(was, is) => {}
            _ => self.report(path, DifferenceEffect::Unclear, format!("has a different rule (`{keyword}`)")),
        }
    }
}

/// Returns `true` if a `u64` may have become an `i64`. Neither has an upper bound in its schema.
fn may_have_become_signed(old: &NumberRules, new: &NumberRules) -> bool {
    let is_negative =
        |bound: Option<NumberLimit>| bound.is_none_or(|bound| ExactNumber::Whole(0).is_above(bound.value));
    !is_negative(old.least) && is_negative(new.least) && old.most.is_none() && new.most.is_none()
}

fn item(rules: &ArrayRules, index: usize) -> &Schema {
    rules.prefix.get(index).or(rules.items.as_ref()).unwrap_or(&ANYTHING)
}

fn is_composed(rules: &SchemaRules) -> bool {
    rules.reference.is_some() || rules.in_place().next().is_some()
}

pub(super) fn listed(values: &[&Value]) -> String {
    let shown: Vec<_> = values.iter().take(10).map(|value| quoted(value)).collect();
    match values.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
