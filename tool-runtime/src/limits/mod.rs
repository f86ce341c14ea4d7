//! Rate limits and totals for tools and conversations.

mod limit;
mod limiter;
mod recent_conversations;
mod usage;

pub use limit::{Limit, LimitExceeded, LimitScope};
pub use limiter::Limiter;
pub(crate) use recent_conversations::RecentConversations;

pub use crate::concurrency::Concurrency;
pub use crate::dispatch::Retries;
