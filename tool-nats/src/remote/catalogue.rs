//! The catalogue of tools, merged from all workers. If workers define a tool differently, the newest version wins, and
//! within a version the greatest fingerprint, so that the choice is deterministic.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use semver::Version;
use tool_runtime::ToolDefinition;

use super::presence::ManifestTools;

/// A definition of a tool that some workers offer.
#[derive(Clone, Debug)]
pub(super) struct OfferedDefinition {
    pub(super) definition: Arc<ToolDefinition>,
    pub(super) fingerprint: String,
    /// The newest version with this definition.
    pub(super) version: Version,
}

/// All definitions of all tools, by precedence.
pub(super) type Catalogue = BTreeMap<String, Vec<OfferedDefinition>>;

/// Merges what the workers offer. An invalid version counts as the oldest.
pub(super) fn forms<'a>(workers: impl Iterator<Item = (&'a str, &'a ManifestTools)>) -> Catalogue {
    let distinct: BTreeMap<(Version, usize), &ManifestTools> = workers
        .map(|(version, offered)| {
            let version = Version::parse(version).unwrap_or(Version::new(0, 0, 0));
            // Workers with the same manifest share it, so that it is processed once.
            ((version, Arc::as_ptr(offered).addr()), offered)
        })
        .collect();
    let mut forms = Catalogue::new();
    for ((version, _), offered) in distinct {
        for (name, definition, fingerprint) in offered.iter() {
            let known = forms.entry(name.clone()).or_default();
            match known.iter_mut().find(|form| form.fingerprint == *fingerprint) {
                Some(form) => form.version = version.clone().max(form.version.clone()),
                None => known.push(OfferedDefinition {
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

/// Returns the versions of some definitions, for messages.
pub(super) fn versions(forms: &[OfferedDefinition]) -> Vec<String> {
    let versions: BTreeSet<&Version> = forms.iter().map(|form| &form.version).collect();
    versions.into_iter().rev().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint;

    fn offered(tools: &[(&str, &str)]) -> ManifestTools {
        let tool = |&(name, description): &(&str, &str)| {
            let mut definition = ToolDefinition::default();
            description.clone_into(&mut definition.description);
            (name.to_owned(), Arc::new(definition.clone()), fingerprint::definition(&definition))
        };
        Arc::new(tools.iter().map(tool).collect())
    }

    fn used<'a>(forms: &'a Catalogue, name: &str) -> (&'a str, String) {
        (&forms[name][0].definition.description, forms[name][0].version.to_string())
    }

    #[test]
    fn compares_versions_by_number() {
        let (old, new) = (offered(&[("t", "old"), ("only.old", "x")]), offered(&[("t", "new")]));
        for order in [[("1.9.0", &old), ("1.10.0", &new)], [("1.10.0", &new), ("1.9.0", &old)]] {
            let forms = forms(order.into_iter());
            assert_eq!(used(&forms, "t"), ("new", "1.10.0".to_owned()));
            assert_eq!((forms["t"].len(), versions(&forms["t"][1..])), (2, vec!["1.9.0".to_owned()]));
            assert_eq!(used(&forms, "only.old"), ("x", "1.9.0".to_owned()));
        }
    }

    #[test]
    fn the_choice_within_a_version_does_not_depend_on_order() {
        let (a, b) = (offered(&[("t", "a")]), offered(&[("t", "b")]));
        let one = forms([("1.0.0", &a), ("1.0.0", &b)].into_iter());
        let other = forms([("1.0.0", &b), ("1.0.0", &a)].into_iter());
        assert_eq!(used(&one, "t"), used(&other, "t"));
    }

    #[test]
    fn equal_definitions_are_not_a_conflict() {
        let (a, b) = (offered(&[("t", "same")]), offered(&[("t", "same"), ("u", "x")]));
        let forms = forms([("1.0.0", &a), ("2.0.0", &b), ("odd", &a)].into_iter());
        assert_eq!((forms["t"].len(), used(&forms, "t")), (1, ("same", "2.0.0".to_owned())));
    }
}
