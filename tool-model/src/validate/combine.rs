//! Schemas made of other schemas: `allOf`, `anyOf`, `oneOf`, `not` and `if`.

use super::branch::BranchIntent;
use super::check::Checker;
use super::expectation::{CountRange, Expectation, NameList, ObjectForm};
use super::findings::{Findings, ValueAt};
use super::path::PathCursor;
use super::schema::{Schema, SchemaRules};
use super::violation::Constraint;

impl<'s> Checker<'s> {
    pub(super) fn combinations(&mut self, rules: &'s SchemaRules, at: ValueAt<'_>, findings: &mut Findings) {
        for schema in &rules.all_of {
            if findings.are_settled() {
                return;
            }
            self.check(schema, at, findings);
        }
        if findings.are_settled() {
            return;
        }
        if !rules.any_of.is_empty() && !rules.any_of.iter().any(|schema| self.fits(schema, at)) {
            self.no_branch_fits(rules, &rules.any_of, at, findings);
        }
        if !rules.one_of.is_empty() {
            self.one_of(rules, at, findings);
        }
        if rules.not.as_ref().is_some_and(|not| self.fits(not, at)) {
            findings.add(|| at.invalid(Constraint::Exclusion, self.describer().rules(rules)));
        }
        if let Some(condition) = &rules.condition {
            let chosen = if self.fits(&condition.when, at) { &condition.then } else { &condition.otherwise };
            if let Some(schema) = chosen {
                self.check(schema, at, findings);
            }
        }
    }

    fn one_of(&mut self, rules: &'s SchemaRules, at: ValueAt<'_>, findings: &mut Findings) {
        let mut fitting = rules.one_of.iter().filter(|schema| self.fits(schema, at));
        match (fitting.next(), fitting.next()) {
            (Some(_), None) => {}
            (None, _) => self.no_branch_fits(rules, &rules.one_of, at, findings),
            (Some(first), Some(second)) => findings.add(|| {
                let (first, second) = (self.describer().schema(first), self.describer().schema(second));
                at.invalid(Constraint::Alternatives, Expectation::OnlyOne(Box::new(first), Box::new(second)))
            }),
        }
    }

    fn no_branch_fits(
        &mut self,
        rules: &'s SchemaRules,
        branches: &'s [Schema],
        at: ValueAt<'_>,
        findings: &mut Findings,
    ) {
        if let Findings::Flag(found) = findings {
            *found = true;
            return;
        }
        match self.intent(branches, at.value) {
            BranchIntent::Branch(branch) => self.check(branch, at, findings),
            BranchIntent::Tag { property, values } => findings.add(|| {
                let expected = Expectation::values(values);
                match at.value.get(property) {
                    Some(value) => ValueAt { value, path: &PathCursor::Property(at.path, property) }
                        .invalid(Constraint::Values, expected),
                    None => at.missing(property, expected, None),
                }
            }),
            BranchIntent::Key(name) => findings.add(|| {
                let properties = ObjectForm::Required(NameList::new([name]));
                let object = Expectation::Object { properties, count: CountRange::default() };
                at.invalid(Constraint::Alternatives, object)
            }),
            BranchIntent::Word(word) => {
                findings.add(|| at.invalid(Constraint::Alternatives, Expectation::values([word])))
            }
            BranchIntent::Unclear => findings
                .add(|| at.invalid(Constraint::Alternatives, self.describer().inside(rules).alternatives(branches))),
        }
    }
}
