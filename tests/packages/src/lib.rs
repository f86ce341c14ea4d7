//! Packages from PyPI and npm at fixed versions, for tests against other implementations.
//!
//! A crate declares in a `static` what its tests need. The first test that asks installs it below the target directory,
//! where it stays for all tests that name the same packages. If Python, npm or the network is missing, the tests
//! report that they were skipped, and pass; if the crate's variable is `required`, as in CI, they fail.
//!
//! ```no_run
//! # // An example has no such variable.
//! # macro_rules! env { ($variable:literal) => { $variable } }
//! use test_packages::{PyPi, run};
//!
//! static VALIDATOR: PyPi = PyPi::new("openapi-spec-validator==0.9.0", "OPENAPI_PYTHON", env!("CARGO_TARGET_TMPDIR"));
//!
//! fn a_validator_agrees() {
//!     let Some(python) = VALIDATOR.installed() else { return };
//!     run(python.command().args(["-m", "openapi_spec_validator", "openapi.json"])).unwrap();
//! }
//! ```

mod directory;
mod npm;
mod pypi;

use std::process::Command;

pub use npm::{Node, Npm};
pub use pypi::{PyPi, Python};

/// Returns the output of a command; if it fails, an error with the command and everything it printed.
pub fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(printed);
    }
    Err(format!("{command:?} failed:\n{printed}\n{}", String::from_utf8_lossy(&output.stderr)))
}
