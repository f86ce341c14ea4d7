#![doc = include_str!("../README.md")]
#![doc = include_str!("docs/crate.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "cli")]
pub mod adopt;
mod cfg;
// The command line of both binaries. Public for them only.
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
mod diagnostic;
mod filter;
mod name_clashes;
mod package;
mod scan;
mod schema;
mod source;
mod text;
mod tools;
mod ty;

#[cfg(feature = "cli")]
extern crate self as tool_gen;

use std::path::Path;

pub use cfg::Cfg;
pub use diagnostic::{Diagnostic, Error, Severity, SourcePlace};
pub use scan::{FILE_NAME, Scan, ScanOutput};

/// The result type of this crate.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// Returns a scan of the crate with this root file, such as `src/lib.rs`.
///
/// ```no_run
/// // build.rs
/// fn main() -> tool_gen::Result {
///     tool_gen::scan("src/lib.rs").and("../services/src/lib.rs").write_to_out_dir()
/// }
/// ```
pub fn scan(root: impl AsRef<Path>) -> Scan {
    Scan::new(root.as_ref())
}
