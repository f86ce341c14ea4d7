//! Reads annotated source and writes the manifest of its tools.

mod cfg;
mod diagnostic;
mod error;
mod scan;
mod schema;
mod ty;

use std::path::Path;

pub use cfg::Cfg;
pub use diagnostic::{Diagnostic, Place, Severity};
pub use error::Error;
pub use scan::{Scan, Scanned};

/// What the functions of this crate give back.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// A scan of the crate with this root file, such as `src/lib.rs`.
pub fn scan(root: impl AsRef<Path>) -> Scan {
    Scan::new(root.as_ref())
}
