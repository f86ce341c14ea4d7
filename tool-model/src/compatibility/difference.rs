//! Differences between schemas, independent of who depends on them.

use super::ChangeKind;

/// The direction in which values are passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueDirection {
    /// From the caller to the tool: the tool must not accept less.
    Sent,
    /// From the tool to the caller: the tool must not return more kinds of values, nor omit a part.
    Returned,
}

/// The effect of a difference on the set of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DifferenceEffect {
    /// Fewer values are valid.
    Narrowed,
    /// More values are valid.
    Widened,
    /// A named part was removed.
    Lost,
    /// A part was added that callers need not know.
    Gained,
    /// Neither direction can be shown.
    Unclear,
}

impl DifferenceEffect {
    pub(super) fn kind(self, direction: ValueDirection) -> ChangeKind {
        let breaks = match direction {
            ValueDirection::Sent => matches!(self, Self::Narrowed | Self::Lost | Self::Unclear),
            ValueDirection::Returned => matches!(self, Self::Widened | Self::Lost | Self::Unclear),
        };
        if breaks { ChangeKind::Breaking } else { ChangeKind::Compatible }
    }
}

/// One difference between two schemas.
#[derive(Clone, Debug)]
pub(super) struct SchemaDifference {
    pub(super) path: String,
    pub(super) effect: DifferenceEffect,
    pub(super) message: String,
}
