//! Recording of schema features that a provider cannot express.

use super::keyword::Keyword;

/// A schema feature that a provider cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SchemaLoss {
    /// A keyword that was moved into the description.
    Moved(Keyword),
    /// An object with arbitrary keys.
    Map,
    /// A value of any type.
    Any,
    /// A recursive type.
    Recursive(String),
    /// An array with a different schema per position.
    Tuple,
    /// An `allOf` that cannot be merged.
    AllOf,
    /// A reference without a target.
    UnknownReference(String),
    /// References that would be too large if inlined.
    TooLarge,
    /// More nesting than the strict mode allows.
    Depth(usize),
    /// More properties than the strict mode allows.
    Properties(usize),
    /// More enum values than the strict mode allows.
    EnumValues(usize),
}

impl SchemaLoss {
    /// Returns `true` if the provider cannot enforce a schema with this loss.
    pub(crate) fn forbids_strict(&self) -> bool {
        !matches!(self, Self::Moved(_) | Self::Tuple)
    }
}

/// A step from a schema to a subschema.
#[derive(Clone, Copy)]
pub(crate) enum SchemaStep<'a> {
    Property(&'a str),
    Items,
    Values,
    /// A subschema of the same value, such as an alternative.
    Same,
}

/// A receiver of losses.
pub(crate) trait LossSink: Default {
    /// `false` if the losses are discarded. Work that only serves the report is skipped then.
    const ARE_READ: bool = true;

    fn enter(&mut self, step: SchemaStep<'_>);
    fn leave(&mut self);
    fn lose(&mut self, loss: SchemaLoss);
}

/// Discards all losses. Used to write definitions.
#[derive(Default)]
pub(crate) struct IgnoredLosses;

impl LossSink for IgnoredLosses {
    const ARE_READ: bool = false;

    fn enter(&mut self, _: SchemaStep<'_>) {}
    fn leave(&mut self) {}
    fn lose(&mut self, _: SchemaLoss) {}
}

/// Records each loss once, with its path.
#[derive(Default)]
pub(crate) struct LossRecorder {
    pub(crate) found: Vec<(String, SchemaLoss)>,
    path: String,
    ends: Vec<usize>,
}

impl LossSink for LossRecorder {
    fn enter(&mut self, step: SchemaStep<'_>) {
        self.ends.push(self.path.len());
        match step {
            SchemaStep::Property(name) => {
                if !self.path.is_empty() {
                    self.path.push('.');
                }
                self.path.push_str(name);
            }
            SchemaStep::Items => self.path.push_str("[]"),
            SchemaStep::Values => self.path.push_str(".*"),
            SchemaStep::Same => {}
        }
    }

    fn leave(&mut self) {
        let end = self.ends.pop().unwrap_or_default();
        self.path.truncate(end);
    }

    fn lose(&mut self, loss: SchemaLoss) {
        let found = (self.path.clone(), loss);
        if !self.found.contains(&found) {
            self.found.push(found);
        }
    }
}
