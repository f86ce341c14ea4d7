//! Tools in every model provider's form.

mod call;
mod definition;
mod dialect;
mod names;
mod offer;
mod plan;
mod report;
mod restore;
mod rules;
mod schema;
mod wire;

pub use call::{Answer, Malformed, Requested, ResponseError};
pub use dialect::{Dialect, Form, UnknownDialect};
pub use names::NameClash;
pub use offer::Offer;
pub use report::{Finding, Level, Report};
