#![doc = include_str!("docs.md")]

mod command;
mod confine;
mod directory;
mod environment;
mod output;
mod prepare;
mod program;
mod report;
mod rules;
mod run;
mod service;
mod settings;
mod tree;

pub use confine::{Confinement, Writes};
pub use service::Exec;
pub use tree::Way;
