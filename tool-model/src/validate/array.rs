//! Rules for arrays.

use serde_json::Value;

use super::check::Checker;
use super::equality::compare;
use super::expectation::{CountRange, Expectation};
use super::findings::{Findings, ValueAt};
use super::path::PathCursor;
use super::schema::{ArrayRules, ContainsRules, Schema};
use super::violation::{Constraint, ViolationKind};

impl<'s> Checker<'s> {
    pub(super) fn array(&mut self, rules: &'s ArrayRules, items: &[Value], at: ValueAt<'_>, findings: &mut Findings) {
        let count = rules.possible_count();
        if !count.admits(items.len()) {
            findings.add(|| at.invalid(Constraint::ItemCount, Expectation::ItemCount(count)));
        }
        self.items(rules, items, at, findings);
        if let Some(contains) = &rules.contains {
            self.contains(contains, items, at, findings);
        }
        if rules.unique && !findings.are_settled() {
            check_unique(items, at, findings);
        }
    }

    fn items(&mut self, rules: &'s ArrayRules, items: &[Value], at: ValueAt<'_>, findings: &mut Findings) {
        // `items: false` is a limit on the count, which was checked above.
        let rest = rules.items.as_ref().filter(|rest| !matches!(rest, Schema::Nothing));
        for (index, value) in items.iter().enumerate() {
            if findings.are_settled() {
                return;
            }
            if let Some(schema) = rules.prefix.get(index).or(rest) {
                self.check(schema, ValueAt { value, path: &PathCursor::Item(at.path, index) }, findings);
            }
        }
    }

    fn contains(&mut self, rules: &'s ContainsRules, items: &[Value], at: ValueAt<'_>, findings: &mut Findings) {
        let matching = items.iter().filter(|value| self.fits(&rules.schema, ValueAt { value, ..at })).count();
        if !rules.count.admits(matching) {
            findings.add(|| {
                let item = Box::new(self.describer().schema(&rules.schema));
                at.invalid(Constraint::Contains, Expectation::MatchingItems { count: rules.count, item })
            });
        }
    }
}

impl ArrayRules {
    /// Returns the allowed number of items. `items: false` is an upper bound, too.
    pub(crate) fn possible_count(&self) -> CountRange {
        match self.items {
            Some(Schema::Nothing) => {
                let most = self.prefix.len() as u64;
                CountRange { most: Some(self.count.most.map_or(most, |given| given.min(most))), ..self.count }
            }
            _ => self.count,
        }
    }
}

/// Reports every item that repeats an earlier one.
fn check_unique(items: &[Value], at: ValueAt<'_>, findings: &mut Findings) {
    let mut sorted: Vec<usize> = (0..items.len()).collect();
    sorted.sort_by(|a, b| compare(&items[*a], &items[*b]));
    let mut repeated: Vec<(usize, usize)> = sorted
        .chunk_by(|a, b| compare(&items[*a], &items[*b]).is_eq())
        .flat_map(|same| same.iter().skip(1).map(|later| (*later, same[0])))
        .collect();
    repeated.sort_unstable();
    for (later, first) in repeated {
        findings.add(|| {
            let first = Some(PathCursor::Item(at.path, first).to_path());
            let item = ValueAt { value: &items[later], path: &PathCursor::Item(at.path, later) };
            item.violation(ViolationKind::RepeatedItem { first })
        });
    }
}
