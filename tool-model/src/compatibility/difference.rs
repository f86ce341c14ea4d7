//! A difference between two schemas, before it is known who depends on them.

use super::ChangeKind;

/// Which way the values of a schema go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the caller to the tool: the tool must not take less.
    Sent,
    /// From the tool to the caller: the tool must not give more than the caller knows, nor leave anything out.
    Returned,
}

/// What a difference does to the set of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// There are fewer.
    Narrowed,
    /// There are more.
    Widened,
    /// Something that both sides had a name for is gone.
    Lost,
    /// There is something more that nobody need know of.
    Gained,
    /// Neither can be shown.
    Unclear,
}

impl Effect {
    pub(super) fn kind(self, direction: Direction) -> ChangeKind {
        let breaks = match direction {
            Direction::Sent => matches!(self, Self::Narrowed | Self::Lost | Self::Unclear),
            Direction::Returned => matches!(self, Self::Widened | Self::Lost | Self::Unclear),
        };
        if breaks { ChangeKind::Breaking } else { ChangeKind::Compatible }
    }
}

/// One difference between two schemas.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    pub(super) path: String,
    pub(super) effect: Effect,
    pub(super) message: String,
}
