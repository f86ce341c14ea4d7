//! Checks the generator against the compiler.
//!
//! [`generate::project`] makes a crate of random services from a seed, [`render::render`] writes it as source text and
//! [`build::Build`] compiles and runs it. Its linked manifest is then compared with what `tool_gen` reads from the
//! same files.

pub mod adopt;
pub mod adopted;
pub mod build;
pub mod compare;
pub mod coverage;
pub mod docs;
pub mod generate;
pub mod model;
mod random;
pub mod registry;
pub mod render;
pub mod words;

pub use random::Random;
