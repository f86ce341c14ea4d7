//! One catalogue out of what many workers offer, by a rule: of several definitions of a name, that of the newest version
//! is used, and of the same version, that of the greatest fingerprint. Chance has no part in it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use semver::Version;
use tool_runtime::ToolDefinition;

use super::census::Offered;

/// A form in which a tool is offered.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) definition: Arc<ToolDefinition>,
    pub(super) fingerprint: String,
    /// The newest version that has it.
    pub(super) version: Version,
}

/// All forms of all tools, those that go first, first.
pub(super) type Forms = BTreeMap<String, Vec<Form>>;

/// Sorts what workers offer by name and by the rule. A version that is none is older than all.
pub(super) fn forms<'a>(workers: impl Iterator<Item = (&'a str, &'a Offered)>) -> Forms {
    let distinct: BTreeMap<(Version, usize), &Offered> = workers
        .map(|(version, offered)| {
            let version = Version::parse(version).unwrap_or(Version::new(0, 0, 0));
            // Workers of one kind share what was fetched once: it is looked through once.
            ((version, Arc::as_ptr(offered).addr()), offered)
        })
        .collect();
    let mut forms = Forms::new();
    for ((version, _), offered) in distinct {
        for (name, definition, fingerprint) in offered.iter() {
            let known = forms.entry(name.clone()).or_default();
            match known.iter_mut().find(|form| form.fingerprint == *fingerprint) {
                Some(form) => form.version = version.clone().max(form.version.clone()),
                None => known.push(Form {
                    definition: definition.clone(),
                    fingerprint: fingerprint.clone(),
                    version: version.clone(),
                }),
            }
        }
    }
    for known in forms.values_mut() {
        known.sort_by(|a, b| (&b.version, &b.fingerprint).cmp(&(&a.version, &a.fingerprint)));
    }
    forms
}

/// The versions of some forms, for people.
pub(super) fn versions(forms: &[Form]) -> Vec<String> {
    let versions: BTreeSet<&Version> = forms.iter().map(|form| &form.version).collect();
    versions.into_iter().rev().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint;

    fn offered(tools: &[(&str, &str)]) -> Offered {
        let tool = |&(name, description): &(&str, &str)| {
            let mut definition = ToolDefinition::default();
            description.clone_into(&mut definition.description);
            (name.to_owned(), Arc::new(definition.clone()), fingerprint::of_tool(&definition))
        };
        Arc::new(tools.iter().map(tool).collect())
    }

    fn used<'a>(forms: &'a Forms, name: &str) -> (&'a str, String) {
        (&forms[name][0].definition.description, forms[name][0].version.to_string())
    }

    #[test]
    fn the_newest_version_wins_by_number_and_not_by_letter() {
        let (old, new) = (offered(&[("t", "old"), ("only.old", "x")]), offered(&[("t", "new")]));
        for order in [[("1.9.0", &old), ("1.10.0", &new)], [("1.10.0", &new), ("1.9.0", &old)]] {
            let forms = forms(order.into_iter());
            assert_eq!(used(&forms, "t"), ("new", "1.10.0".to_owned()));
            assert_eq!((forms["t"].len(), versions(&forms["t"][1..])), (2, vec!["1.9.0".to_owned()]));
            assert_eq!(used(&forms, "only.old"), ("x", "1.9.0".to_owned()));
        }
    }

    #[test]
    fn of_one_version_the_same_one_wins_whoever_comes_first() {
        let (a, b) = (offered(&[("t", "a")]), offered(&[("t", "b")]));
        let one = forms([("1.0.0", &a), ("1.0.0", &b)].into_iter());
        let other = forms([("1.0.0", &b), ("1.0.0", &a)].into_iter());
        assert_eq!(used(&one, "t"), used(&other, "t"));
    }

    #[test]
    fn the_same_definition_is_no_conflict() {
        let (a, b) = (offered(&[("t", "same")]), offered(&[("t", "same"), ("u", "x")]));
        let forms = forms([("1.0.0", &a), ("2.0.0", &b), ("odd", &a)].into_iter());
        assert_eq!((forms["t"].len(), used(&forms, "t")), (1, ("same", "2.0.0".to_owned())));
    }
}
