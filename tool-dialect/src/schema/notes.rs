//! What is lost on the way into a provider's form, with the place where.

use super::keyword::Keyword;

/// Something that a provider's form cannot say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// A keyword that stands in the description now.
    Moved(Keyword),
    /// Keys that are not known beforehand.
    Map,
    /// A value of any form.
    Any,
    /// A type that contains itself.
    Recursive(String),
    /// Items of different kinds, each at its place.
    Tuple,
    /// Schemas that all must hold, and cannot be made one.
    AllOf,
    /// A reference that leads nowhere.
    UnknownReference(String),
    /// References that would be too large if written out.
    TooLarge,
    /// More nesting than the provider takes in a strict schema.
    Depth(usize),
    /// More properties than the provider takes in a strict schema.
    Properties(usize),
    /// More enum values than the provider takes in a strict schema.
    EnumValues(usize),
}

impl Loss {
    /// Whether a schema with it cannot be enforced by the provider.
    pub(crate) fn forbids_strict(&self) -> bool {
        !matches!(self, Self::Moved(_) | Self::Tuple)
    }
}

/// A step from a schema to one below it.
#[derive(Clone, Copy)]
pub(crate) enum Step<'a> {
    Property(&'a str),
    Items,
    Values,
    /// Another keyword that holds schemas: the place stays that of the value.
    Same,
}

/// Takes down what is lost, or does not.
pub(crate) trait Notes: Default {
    /// Whether anybody reads them: what is only written to be reported need not be written otherwise.
    const ARE_READ: bool = true;

    fn enter(&mut self, step: Step<'_>);
    fn leave(&mut self);
    fn lose(&mut self, loss: Loss);
}

/// Takes nothing down: definitions are written this way.
#[derive(Default)]
pub(crate) struct Silent;

impl Notes for Silent {
    const ARE_READ: bool = false;

    fn enter(&mut self, _: Step<'_>) {}
    fn leave(&mut self) {}
    fn lose(&mut self, _: Loss) {}
}

/// Takes every loss down with its place, once.
#[derive(Default)]
pub(crate) struct Losses {
    pub(crate) found: Vec<(String, Loss)>,
    path: String,
    ends: Vec<usize>,
}

impl Notes for Losses {
    fn enter(&mut self, step: Step<'_>) {
        self.ends.push(self.path.len());
        match step {
            Step::Property(name) => {
                if !self.path.is_empty() {
                    self.path.push('.');
                }
                self.path.push_str(name);
            }
            Step::Items => self.path.push_str("[]"),
            Step::Values => self.path.push_str(".*"),
            Step::Same => {}
        }
    }

    fn leave(&mut self) {
        let end = self.ends.pop().unwrap_or_default();
        self.path.truncate(end);
    }

    fn lose(&mut self, loss: Loss) {
        let found = (self.path.clone(), loss);
        if !self.found.contains(&found) {
            self.found.push(found);
        }
    }
}
