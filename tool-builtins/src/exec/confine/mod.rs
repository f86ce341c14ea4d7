//! What a command cannot do, whatever it tries.

mod capabilities;
mod network;
mod writes;

use serde::Serialize;

use super::tree::Way;

pub(super) use capabilities::give_up;
pub(super) use network::filter;
pub use writes::Writes;
pub(super) use writes::rules;

/// What this system enforces of a command; [`Exec::confinement`](super::Exec::confinement) tells, and the metadata of
/// each result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Confinement {
    /// How everything that it has started is ended with it.
    pub tree: Way,
    /// Where it can write.
    pub writes: Writes,
    /// Whether it can reach the network. Local sockets it can always reach.
    pub network: bool,
}
