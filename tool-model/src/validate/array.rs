//! Rules for arrays.

use serde_json::Value;

use super::check::Checker;
use super::equality::compare;
use super::findings::{At, Findings};
use super::path::Path;
use super::phrases;
use super::schema::{ArrayRules, Contains, Count, Schema};

impl<'s> Checker<'s> {
    pub(super) fn array(&mut self, rules: &'s ArrayRules, items: &[Value], at: At<'_>, findings: &mut Findings) {
        let count = rules.possible_count();
        if !count.admits(items.len()) {
            findings.add(|| at.unlike(phrases::count(count, "item", "items").unwrap_or_default()));
        }
        self.items(rules, items, at, findings);
        if let Some(contains) = &rules.contains {
            self.contains(contains, items, at, findings);
        }
        if rules.unique && !findings.are_settled() {
            check_unique(items, at, findings);
        }
    }

    fn items(&mut self, rules: &'s ArrayRules, items: &[Value], at: At<'_>, findings: &mut Findings) {
        // With `items: false` there are too many, which has been said.
        let rest = rules.items.as_ref().filter(|rest| !matches!(rest, Schema::Nothing));
        for (index, value) in items.iter().enumerate() {
            if findings.are_settled() {
                return;
            }
            if let Some(schema) = rules.prefix.get(index).or(rest) {
                self.check(schema, At { value, path: &Path::Item(at.path, index) }, findings);
            }
        }
    }

    fn contains(&mut self, rules: &'s Contains, items: &[Value], at: At<'_>, findings: &mut Findings) {
        let fitting = items.iter().filter(|value| self.fits(&rules.schema, At { value, ..at })).count();
        if !rules.count.admits(fitting) {
            findings.add(|| {
                let count = phrases::count(rules.count, "item that fits", "items that fit").unwrap_or_default();
                at.unlike(format!("{count}: {}", self.describer().schema(&rules.schema)))
            });
        }
    }
}

impl ArrayRules {
    /// The count demanded, also by `items: false`.
    pub(crate) fn possible_count(&self) -> Count {
        match self.items {
            Some(Schema::Nothing) => {
                let most = self.prefix.len() as u64;
                Count { most: Some(self.count.most.map_or(most, |given| given.min(most))), ..self.count }
            }
            _ => self.count,
        }
    }
}

/// Names every item that repeats an earlier one.
fn check_unique(items: &[Value], at: At<'_>, findings: &mut Findings) {
    let mut sorted: Vec<usize> = (0..items.len()).collect();
    sorted.sort_by(|a, b| compare(&items[*a], &items[*b]));
    let mut repeated: Vec<(usize, usize)> = sorted
        .chunk_by(|a, b| compare(&items[*a], &items[*b]).is_eq())
        .flat_map(|same| same.iter().skip(1).map(|later| (*later, same[0])))
        .collect();
    repeated.sort_unstable();
    for (later, first) in repeated {
        let path = Path::Item(at.path, later);
        let first = Path::Item(at.path, first);
        findings.add(|| At { value: &items[later], path: &path }.unlike(format!("unique item; it repeats `{first}`")));
    }
}
