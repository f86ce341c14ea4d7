//! Reads annotated source and writes the manifest of its tools.

mod annotation;
mod cfg;
mod diagnostic;
mod error;
mod package;
mod scan;
mod schema;
mod source;
mod text;
mod tools;
mod ty;
mod write;

use std::path::Path;

pub use cfg::Cfg;
pub use diagnostic::{Diagnostic, Place, Severity};
pub use error::Error;
pub use scan::{Scan, Scanned};
pub use write::FILE_NAME;

/// What the functions of this crate give back.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// A scan of the crate with this root file, such as `src/lib.rs`.
pub fn scan(root: impl AsRef<Path>) -> Scan {
    Scan::new(root.as_ref())
}
