//! How often tools may be called.

mod count;
mod limit;
mod limiter;
mod recent;

pub use limit::{Exceeded, Limit, LimitScope};
pub use limiter::Limiter;
pub(crate) use recent::Recent;

pub use crate::concurrency::Concurrency;
pub use crate::dispatch::Retries;
