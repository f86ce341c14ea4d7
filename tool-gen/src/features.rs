//! Which features of a package are on.

use std::collections::{BTreeMap, BTreeSet};

/// What a list of features switches on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// The package's own features.
    pub on: BTreeSet<String>,
    /// The features of its dependencies, by the names that `Cargo.toml` has for them.
    pub of_dependencies: BTreeMap<String, BTreeSet<String>>,
}

impl Features {
    /// What is on when some features are `asked` for.
    ///
    /// `declared` is the table `[features]` with the implicit ones of optional dependencies, as `cargo metadata` gives
    /// it; `optional` are the names of those dependencies.
    #[must_use]
    pub fn closure(
        declared: &BTreeMap<String, Vec<String>>,
        optional: &BTreeSet<String>,
        asked: impl IntoIterator<Item = String>,
    ) -> Self {
        let mut features = Self::default();
        let mut open: Vec<String> = asked.into_iter().collect();
        while let Some(feature) = open.pop() {
            if let Some((dependency, feature)) = feature.split_once('/') {
                // `a?/b` waits until something else switches `a` on.
                let name = dependency.trim_end_matches('?');
                if name == dependency && optional.contains(name) && declared.contains_key(name) {
                    open.push(name.to_owned());
                }
                features.of_dependencies.entry(name.to_owned()).or_default().insert(feature.to_owned());
            } else if !feature.starts_with("dep:") && features.on.insert(feature.clone()) {
                open.extend(declared.get(&feature).into_iter().flatten().cloned());
            }
        }
        features
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_of_a_dependency_switches_the_dependency_on() {
        let list = |features: &[&str]| features.iter().map(|&feature| feature.to_owned()).collect::<Vec<_>>();
        let declared = BTreeMap::from([
            ("default".to_owned(), list(&["x", "always/fast", "maybe?/weak"])),
            ("x".to_owned(), list(&["one/deep", "dep:two"])),
            ("one".to_owned(), list(&["dep:one"])),
            ("maybe".to_owned(), list(&["dep:maybe"])),
        ]);
        let optional = list(&["one", "two", "maybe"]).into_iter().collect();
        let features = Features::closure(&declared, &optional, list(&["default"]));
        assert_eq!(features.on.into_iter().collect::<Vec<_>>(), ["default", "one", "x"]);
        let of_dependencies: Vec<_> = features
            .of_dependencies
            .iter()
            .map(|(name, on)| format!("{name}/{}", Vec::from_iter(on.clone()).join("+")))
            .collect();
        assert_eq!(of_dependencies, ["always/fast", "maybe/weak", "one/deep"]);
    }
}
