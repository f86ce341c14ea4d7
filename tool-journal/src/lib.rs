#![doc = include_str!("../README.md")]
#![doc = include_str!("../docs/crate.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod entries;
mod error;
mod opening;
mod pending;
mod prune;
mod record;
mod sqlite;

pub use sqlite::SqliteJournal;
