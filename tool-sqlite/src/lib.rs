#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod database;
mod error;
mod kind;
mod private;
mod retry;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod time;
mod version;

pub use database::Database;
pub use error::{OpenError, primary_code};
pub use kind::FileKind;
pub use private::private;
