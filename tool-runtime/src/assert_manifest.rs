//! `assert_manifest!`: a test that the committed manifest matches the code.

use std::collections::BTreeSet;
use std::path::Path;

use tool_model::{Manifest, ToolDefinition, difference, difference_with_words, registrations};

use crate::manifest::{class_path, crate_of};

/// Panics with the differences if the committed manifest does not match the code.
///
/// Put one line into a test of the package. The manifest is the `tools_calls.json` next to `Cargo.toml`, or the file
/// with the given path, relative to it:
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
/// #     tool_runtime::assert_manifest!("docs/tools_calls.json", all, keep_words);
/// # }
/// ```
///
/// Every entry must match a linked tool, including its descriptions, and every tool of this package, and of each crate that
/// an entry names, must have an entry. Tools of other linked crates need none, and those of a `manual` class only if an
/// entry names the class. Types that the generator cannot see and writes as `any` match everything, as they do for a
/// dispatcher.
///
/// Options follow the file, or replace it:
///
/// | | |
/// |---|---|
/// | `assert_manifest!(all)` | every linked tool must have an entry: for an application that uses the tools of other crates |
/// | `assert_manifest!("prompts.json", keep_words)` | descriptions and instructions are not compared: for a manifest whose texts are edited |
///
/// Put the test into `tests/`: a unit test is compiled with `cfg(test)`, and tools that exist only there would be reported
/// as missing. The test must name the crate, as above, or the linker drops it.
#[expect(clippy::test_attr_in_doctest, reason = "the example shows where the line goes; `main` runs it")]
#[macro_export]
macro_rules! assert_manifest {
    () => {
        $crate::assert_manifest!("tools_calls.json")
    };
    (all $(, $word:ident)* $(,)?) => {
        $crate::assert_manifest!("tools_calls.json", all $(, $word)*)
    };
    (keep_words $(, $word:ident)* $(,)?) => {
        $crate::assert_manifest!("tools_calls.json", keep_words $(, $word)*)
    };
    ($path:expr $(, $word:ident)* $(,)?) => {
        $crate::private::ManifestAssertion::new(
            ::core::env!("CARGO_MANIFEST_DIR"),
            ::core::env!("CARGO_PKG_NAME"),
            ::core::module_path!(),
            ::core::option_env!("CARGO_TARGET_TMPDIR").is_none(),
        )
        $(.$word())*
        .check($path)
    };
}

/// The assertion of [`assert_manifest!`](crate::assert_manifest), with its place and options.
pub struct ManifestAssertion {
    /// The directory of the package's `Cargo.toml`.
    folder: &'static str,
    /// The crate whose tools must have entries.
    tested: String,
    is_unit_test: bool,
    all: bool,
    keep_words: bool,
}

impl ManifestAssertion {
    /// Creates the assertion. `is_unit_test` means that the tools are in the crate of the test: cargo sets a variable only
    /// for the tests in `tests/`.
    pub fn new(folder: &'static str, package: &str, module: &str, is_unit_test: bool) -> Self {
        let tested = if is_unit_test { crate_of(module).to_owned() } else { package.replace('-', "_") };
        Self { folder, tested, is_unit_test, all: false, keep_words: false }
    }

    /// Requires an entry for every linked tool.
    pub fn all(self) -> Self {
        Self { all: true, ..self }
    }

    /// Does not compare texts.
    pub fn keep_words(self) -> Self {
        Self { keep_words: true, ..self }
    }

    /// Panics with all differences.
    #[track_caller]
    pub fn check(&self, file: impl AsRef<Path>) {
        let file = file.as_ref();
        let path = Path::new(self.folder).join(file);
        // Not a closure, which would panic at its own line instead of that of the test.
        let manifest = match Manifest::load(&path) {
            Ok(manifest) => manifest,
            Err(error) => {
                panic!("{error}\n`{}` writes it.", self.command(file, &Manifest::default(), &Manifest::linked()))
            }
        };
        let linked = linked_beside(&manifest);
        let findings = self.findings(&manifest, &linked);
        if findings.is_empty() {
            return;
        }
        let has_missing = !manifest.is_empty() && !self.missing(&manifest, &linked).is_empty();
        let cfg_test = if self.is_unit_test && has_missing {
            "\nTools under `cfg(test)` exist in unit tests only: if these are such, let this test stand in `tests/`."
        } else {
            ""
        };
        panic!(
            "{} does not match the code:\n- {}\n`{}` writes it again.{cfg_test}",
            path.display(),
            findings.join("\n- "),
            self.command(file, &manifest, &linked)
        );
    }

    fn findings(&self, manifest: &Manifest, linked: &Manifest) -> Vec<String> {
        if manifest.is_empty() && !linked.is_empty() {
            let tools = linked.iter().map(|(_, tool)| crate_of(&tool.handler)).collect::<BTreeSet<_>>();
            let tools = tools.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return vec![format!("it has no tools, and {} are linked, of {tools}", linked.len())];
        }
        let stale = manifest.iter().filter_map(|(name, entry)| self.stale(name, entry, linked));
        stale.chain(self.missing(manifest, linked)).collect()
    }

    /// Returns a finding for each linked tool without an entry.
    fn missing(&self, manifest: &Manifest, linked: &Manifest) -> Vec<String> {
        let named: BTreeSet<&str> = manifest.iter().map(|(_, entry)| crate_of(&entry.handler)).collect();
        let has_entry = |handler: &str| manifest.iter().any(|(_, entry)| entry.handler == handler);
        let is_missing = |name: &str, tool: &ToolDefinition| {
            let krate = crate_of(&tool.handler);
            let is_wanted = self.all || krate == self.tested || named.contains(krate);
            is_wanted && manifest.get(name).is_none() && !has_entry(&tool.handler)
        };
        linked
            .iter()
            .filter(|(name, tool)| is_missing(name, tool))
            .map(|(name, tool)| format!("`{name}` is missing: `{}` has no entry", tool.handler))
            .collect()
    }

    /// Returns the difference of an entry, if any.
    fn stale(&self, name: &str, entry: &ToolDefinition, linked: &Manifest) -> Option<String> {
        let compare = if self.keep_words { difference } else { difference_with_words };
        if let Some(tool) = linked.get(name).filter(|tool| tool.handler == entry.handler) {
            let differences = compare(entry, tool);
            return (!differences.is_empty()).then(|| format!("`{name}` is stale: {}", differences.join("; ")));
        }
        if let Some((now, _)) = linked.iter().find(|(_, tool)| tool.handler == entry.handler) {
            return Some(format!("`{name}` is stale: `{}` is now called `{now}`", entry.handler));
        }
        if let Some(moved) = linked.get(name).filter(|tool| crate_of(&tool.handler) == crate_of(&entry.handler)) {
            return Some(format!("`{name}` is stale: its handler is now `{}`, not `{}`", moved.handler, entry.handler));
        }
        Some(format!(
            "`{name}` is not in the code: there is no `{}`; if there is, the test must name its crate: `use {} as _;`",
            entry.handler,
            crate_of(&entry.handler)
        ))
    }

    /// Returns the command that writes the file, to be run in the directory of the package.
    fn command(&self, file: &Path, manifest: &Manifest, linked: &Manifest) -> String {
        let manual = manual_handlers();
        let (with, manifest): (Vec<&str>, Vec<&str>) =
            manifest.iter().map(|(_, entry)| entry.handler.as_str()).partition(|handler| manual.contains(handler));
        let linked = linked.iter().map(|(_, tool)| tool.handler.as_str()).filter(|handler| !manual.contains(handler));
        let all: BTreeSet<&str> = linked.map(crate_of).collect();
        let mut crates: BTreeSet<&str> = manifest.into_iter().map(crate_of).collect();
        if self.all {
            crates.clone_from(&all);
        } else if all.contains(self.tested.as_str()) {
            crates.insert(&self.tested);
        } else if crates.is_empty() {
            crates = all;
        }
        let mut command = "tool-gen write".to_owned();
        let is_own = crates.iter().all(|krate| *krate == self.tested);
        if !is_own {
            crates.iter().for_each(|krate| command.push_str(&format!(" -p {krate}")));
        }
        let classes: BTreeSet<String> = with.into_iter().filter_map(class_path).collect();
        classes.iter().for_each(|class| command.push_str(&format!(" --with {class}")));
        if !is_own || file != Path::new("tools_calls.json") {
            command.push_str(&format!(" -o {}", file.display()));
        }
        if self.keep_words {
            command.push_str(" --keep-words");
        }
        command
    }
}

/// Returns the linked tools, including those of the `manual` classes that a manifest has entries of.
fn linked_beside(manifest: &Manifest) -> Manifest {
    let classes: BTreeSet<String> = manifest.iter().filter_map(|(_, entry)| class_path(&entry.handler)).collect();
    let mut linked = Manifest::linked();
    for tool in registrations().into_iter().filter(|tool| tool.options.manual) {
        if class_path(tool.handler).is_some_and(|class| classes.contains(&class)) {
            linked.insert(tool.name, tool.definition());
        }
    }
    linked
}

fn manual_handlers() -> BTreeSet<&'static str> {
    registrations().into_iter().filter(|tool| tool.options.manual).map(|tool| tool.handler).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn tool(handler: &str) -> ToolDefinition {
        let mut tool = ToolDefinition::default();
        tool.handler = handler.to_owned();
        tool
    }

    fn manifest(handlers: &[&str]) -> Manifest {
        handlers.iter().map(|handler| (handler.replace("::", "."), tool(handler))).collect()
    }

    fn assertion() -> ManifestAssertion {
        ManifestAssertion::new("/app", "my-app", "manifest", false)
    }

    #[test]
    fn an_empty_manifest_does_not_match_the_code() {
        let linked = manifest(&["other_name::a", "other_name::b"]);
        assert_eq!(
            assertion().findings(&Manifest::default(), &linked),
            ["it has no tools, and 2 are linked, of `other_name`"]
        );
        assert!(assertion().findings(&Manifest::default(), &Manifest::default()).is_empty());
    }

    #[test]
    fn a_crate_with_an_entry_needs_entries_for_all_tools() {
        let linked = manifest(&["inventory::a", "inventory::b", "unrelated::c"]);
        let missing = ["`inventory.b` is missing: `inventory::b` has no entry"];
        assert_eq!(assertion().findings(&manifest(&["inventory::a"]), &linked), missing);
        assert!(assertion().findings(&manifest(&["inventory::a", "inventory::b"]), &linked).is_empty());
        let all = assertion().all().findings(&manifest(&["inventory::a", "inventory::b"]), &linked);
        assert_eq!(all, ["`unrelated.c` is missing: `unrelated::c` has no entry"]);
    }

    #[test]
    fn keep_words_ignores_edited_texts() {
        let linked = manifest(&["my_app::a"]);
        let mut edited = linked.clone();
        let mut tool = edited.remove("my_app.a").unwrap_or_default();
        tool.description = "Otherwise.".to_owned();
        edited.insert("my_app.a", tool);
        assert_eq!(assertion().findings(&edited, &linked).len(), 1);
        assert!(assertion().keep_words().findings(&edited, &linked).is_empty());
    }

    #[test]
    fn names_a_function_that_was_moved() {
        let moved = [("a".to_owned(), tool("my_app::new::a"))];
        let entry = [("a".to_owned(), tool("my_app::old::a"))];
        let findings = assertion().findings(&entry.into_iter().collect(), &moved.into_iter().collect());
        assert_eq!(findings, ["`a` is stale: its handler is now `my_app::new::a`, not `my_app::old::a`"]);
    }

    #[test]
    fn suggests_the_command_that_writes_this_file() {
        let default = Path::new("tools_calls.json");
        let own = manifest(&["my_app::a"]);
        let other = manifest(&["inventory::a"]);
        let both = manifest(&["my_app::a", "inventory::a"]);
        let command = |assertion: ManifestAssertion, file: &Path, manifest: &Manifest, linked: &Manifest| {
            assertion.command(file, manifest, linked)
        };
        assert_eq!(command(assertion(), default, &own, &both), "tool-gen write");
        assert_eq!(command(assertion(), default, &other, &other), "tool-gen write -p inventory -o tools_calls.json");
        assert_eq!(command(assertion(), default, &Manifest::default(), &own), "tool-gen write");
        assert_eq!(
            command(assertion().all().keep_words(), Path::new("b.json"), &own, &both),
            "tool-gen write -p inventory -p my_app -o b.json --keep-words"
        );
    }

    #[test]
    fn panics_at_the_line_of_the_test_if_the_file_is_missing() {
        static PLACE: AtomicU32 = AtomicU32::new(0);
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| match panic.payload().downcast_ref::<String>() {
            Some(words) if words.contains("no/such/file.json") => {
                PLACE.store(panic.location().map_or(0, |place| place.line()), Ordering::SeqCst);
            }
            _ => hook(panic),
        }));
        let line = line!() + 1;
        let panicked = std::panic::catch_unwind(|| crate::assert_manifest!("no/such/file.json"));
        assert!(panicked.is_err());
        assert_eq!(PLACE.load(Ordering::SeqCst), line);
    }
}
