//! Fixtures: ordinary functions and services, one file per theme, each with the annotations of a user.
//!
//! They are in a crate of their own, so that the tests find them as an application does: through the linker. A theme
//! is a module; its golden manifest is `golden/<theme>.json`.

pub mod aliases;
pub mod backends;
pub mod borrowed;
pub mod classes;
pub mod collections;
pub mod conversions;
pub mod docs;
pub mod enums;
pub mod explicit;
pub mod functions;
pub mod generics;
pub mod hints;
pub mod opaque;
pub mod options;
pub mod previews;
pub mod receivers;
pub mod recursive;
pub mod returns;
pub mod rules;
pub mod scalars;
pub mod streams;
pub mod structs;
pub mod texts;
pub mod wide;
