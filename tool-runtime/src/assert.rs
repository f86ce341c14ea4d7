//! `assert_manifest!`, an author's test that the committed manifest is what the code says.

use std::path::Path;

use tool_model::{Manifest, difference_with_words};

/// Fails, with the difference, when the committed manifest is not what the code says.
///
/// One line in a test of the package. The manifest is the `tools_calls.json` beside `Cargo.toml`, or the file that is
/// named, relative to it:
///
/// ```standalone_crate
/// // tests/manifest.rs
/// # extern crate tool_runtime as my_service;
/// use my_service as _;
///
/// #[test]
/// fn the_manifest_is_up_to_date() {
///     tool_runtime::assert_manifest!();
/// }
/// # /// Greet someone.
/// # #[tool_runtime::tool]
/// # fn greet(name: &str) -> String {
/// #     format!("Hello, {name}!")
/// # }
/// # fn main() {
/// #     tool_runtime::assert_manifest!("docs/tools_calls.json");
/// # }
/// ```
///
/// Every entry must be a linked tool and say what it is, the descriptions among it; and every tool of this crate must
/// have an entry. Tools of other crates, which a test links as well, need none. What the generator cannot see and
/// writes as `any` agrees with everything, as it does for a dispatcher.
///
/// It stands best in `tests/`: a unit test is compiled with `cfg(test)`, and tools that exist only there would be
/// reported as missing. The crate must be named there, as above, or the linker leaves it out.
#[expect(clippy::test_attr_in_doctest, reason = "it shows where the line goes; what runs stands in `main`")]
#[macro_export]
macro_rules! assert_manifest {
    () => {
        $crate::assert_manifest!("tools_calls.json")
    };
    ($path:expr $(,)?) => {
        $crate::private::assert_manifest(
            &$crate::private::TestCrate {
                folder: ::core::env!("CARGO_MANIFEST_DIR"),
                package: ::core::env!("CARGO_PKG_NAME"),
                module: ::core::module_path!(),
                is_unit_test: ::core::option_env!("CARGO_TARGET_TMPDIR").is_none(),
            },
            $path,
        )
    };
}

/// The crate in which [`assert_manifest!`](crate::assert_manifest) stands.
pub struct TestCrate {
    /// Where its `Cargo.toml` is.
    pub folder: &'static str,
    /// The package's name.
    pub package: &'static str,
    /// The module of the test.
    pub module: &'static str,
    /// Whether the tools are in the same crate; cargo sets a variable for the tests in `tests/` only.
    pub is_unit_test: bool,
}

impl TestCrate {
    /// The crate whose tools the manifest must have.
    fn tested(&self) -> String {
        if self.is_unit_test { crate_of(self.module).to_owned() } else { self.package.replace('-', "_") }
    }
}

/// Panics with everything that differs.
#[track_caller]
pub fn assert_manifest(of: &TestCrate, path: impl AsRef<Path>) {
    let path = Path::new(of.folder).join(path);
    let manifest = Manifest::load(&path).unwrap_or_else(|error| panic!("{error}\n`tool-gen write` writes it."));
    let findings = findings(&manifest, &Manifest::linked(), &of.tested());
    if findings.is_empty() {
        return;
    }
    let cfg_test = if of.is_unit_test && findings.iter().any(|finding| finding.contains("is missing")) {
        "\nTools under `cfg(test)` exist in unit tests only: if these are such, let this test stand in `tests/`."
    } else {
        ""
    };
    panic!(
        "{} is not what the code says:\n- {}\n`tool-gen write` writes it again.{cfg_test}",
        path.display(),
        findings.join("\n- ")
    );
}

fn findings(manifest: &Manifest, linked: &Manifest, tested: &str) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, entry) in manifest.iter() {
        match linked.get(name).filter(|tool| tool.handler == entry.handler) {
            Some(tool) => {
                let differences = difference_with_words(entry, tool);
                if !differences.is_empty() {
                    findings.push(format!("`{name}` is stale: {}", differences.join("; ")));
                }
            }
            None => findings.push(match linked.iter().find(|(_, tool)| tool.handler == entry.handler) {
                Some((now, _)) => format!("`{name}` is stale: `{}` is now called `{now}`", entry.handler),
                None => format!(
                    "`{name}` is not in the code: there is no `{}`; if there is, the test must name its crate: `use {} as _;`",
                    entry.handler,
                    crate_of(&entry.handler)
                ),
            }),
        }
    }
    let has_entry = |handler: &str| manifest.iter().any(|(_, entry)| entry.handler == handler);
    for (name, tool) in linked.iter().filter(|(_, tool)| crate_of(&tool.handler) == tested) {
        if manifest.get(name).is_none() && !has_entry(&tool.handler) {
            findings.push(format!("`{name}` is missing: `{}` has no entry", tool.handler));
        }
    }
    findings
}

fn crate_of(path: &str) -> &str {
    path.split("::").next().unwrap_or(path)
}
