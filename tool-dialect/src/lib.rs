#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod arguments;
mod call;
mod definition;
mod dialect;
mod names;
mod offer;
mod plan;
mod report;
mod rules;
mod schema;
mod stream;
mod wire;

pub use call::{MalformedCall, ProviderResult, RequestedCall, ResponseError};
pub use dialect::{Dialect, DialectForm, UnknownDialect};
pub use names::NameClash;
pub use offer::ToolOffer;
pub use report::{LossFinding, LossLevel, LossReport};
pub use stream::{StreamAssembler, StreamedResponse};
