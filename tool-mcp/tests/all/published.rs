//! Published packages for tests.
//!
//! If they cannot be installed, the tests that need them print a message and pass. With `MCP_NODE=required` and
//! `MCP_PYTHON=required`, as in CI, they fail instead.

use std::path::{Path, PathBuf};

use test_packages::{Node, Npm, PyPi};

const TARGET: &str = env!("CARGO_TARGET_TMPDIR");

pub static NPM: Npm = Npm::new(
    &[
        "@modelcontextprotocol/conformance@0.2.0-alpha.12",
        "@modelcontextprotocol/inspector@2.12.0",
        "@modelcontextprotocol/server-everything@2026.8.31",
        "@modelcontextprotocol/server-filesystem@2026.8.31",
        "node@22.23.3",
    ],
    "MCP_NODE",
    TARGET,
);

pub static PYPI: PyPi = PyPi::new(include_str!("../python/requirements.txt"), "MCP_PYTHON", TARGET);

/// Returns the script of an MCP package.
pub fn script(node: &Node, package: &str) -> PathBuf {
    node.package("@modelcontextprotocol").join(package).join("dist/index.js")
}

/// Returns the path of an example of this package, built by `cargo test`.
pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of the test");
    let built = test.parent().and_then(Path::parent).expect("a path in `deps`").join("examples").join(name);
    assert!(built.exists(), "{built:?} is missing: `cargo build -p tool-mcp --examples`");
    built
}
