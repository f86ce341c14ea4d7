//! Which `#[cfg(..)]`s hold.

use std::collections::BTreeSet;

/// The configuration under which a crate is read: what rustc's `--cfg` says, but for the crate's features.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cfg {
    set: BTreeSet<(String, Option<String>)>,
}

impl Cfg {
    /// A configuration in which nothing is set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With a name, such as `unix`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.set.insert((name.into(), None));
        self
    }

    /// With a value, such as `target_os = "linux"`.
    #[must_use]
    pub fn value(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.set.insert((name.into(), Some(value.into())));
        self
    }
}
