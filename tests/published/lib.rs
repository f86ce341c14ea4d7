//! Checks the library crates as they would be published; see `packages.rs`.
