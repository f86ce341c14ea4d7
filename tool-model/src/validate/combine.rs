//! Schemas made of other schemas: `allOf`, `anyOf`, `oneOf`, `not` and `if`.

use super::branch::Intent;
use super::check::Checker;
use super::findings::{At, Findings};
use super::path::Path;
use super::phrases;
use super::schema::{Rules, Schema};

impl<'s> Checker<'s> {
    pub(super) fn combinations(&mut self, rules: &'s Rules, at: At<'_>, findings: &mut Findings) {
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
            findings.add(|| at.unlike(self.describer().rules(rules)));
        }
        if let Some(condition) = &rules.condition {
            let chosen = if self.fits(&condition.when, at) { &condition.then } else { &condition.otherwise };
            if let Some(schema) = chosen {
                self.check(schema, at, findings);
            }
        }
    }

    fn one_of(&mut self, rules: &'s Rules, at: At<'_>, findings: &mut Findings) {
        let mut fitting = rules.one_of.iter().filter(|schema| self.fits(schema, at));
        match (fitting.next(), fitting.next()) {
            (Some(_), None) => {}
            (None, _) => self.no_branch_fits(rules, &rules.one_of, at, findings),
            (Some(first), Some(second)) => findings.add(|| {
                let (first, second) = (self.describer().schema(first), self.describer().schema(second));
                at.unlike(format!("only one of: {first}; {second} (this fits both)"))
            }),
        }
    }

    fn no_branch_fits(&mut self, rules: &'s Rules, branches: &'s [Schema], at: At<'_>, findings: &mut Findings) {
        if let Findings::Whether(wrong) = findings {
            *wrong = true;
            return;
        }
        match self.intent(branches, at.value) {
            Intent::Branch(branch) => self.check(branch, at, findings),
            Intent::Tag { property, values } => findings.add(|| {
                let expected = phrases::one_of_values(values);
                match at.value.get(property) {
                    Some(value) => At { value, path: &Path::Property(at.path, property) }.unlike(expected),
                    None => at.without(property, expected),
                }
            }),
            Intent::Key(name) => findings.add(|| at.unlike(format!("object with {}", phrases::names([name])))),
            Intent::Word(word) => findings.add(|| at.unlike(phrases::one_of_values([word]))),
            Intent::Unclear => findings.add(|| at.unlike(self.describer().inside(rules).alternatives(branches))),
        }
    }
}
