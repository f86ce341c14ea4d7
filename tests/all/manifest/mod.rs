//! A dispatcher and its manifest: loading, reloading and watching.

mod assertion;
mod loading;
mod reloading;
mod watching;

use std::path::PathBuf;

use tool_runtime::Manifest;

/// A manifest of the linked tools with this prefix.
fn linked(prefix: &str) -> Manifest {
    let linked = Manifest::linked();
    let own = linked.iter().filter(|(name, _)| name.starts_with(prefix));
    let own: Manifest = own.map(|(name, tool)| (name.to_owned(), tool.clone())).collect();
    assert!(!own.is_empty(), "no tool with {prefix}");
    own
}

/// A file of this name in a directory of its own.
fn file(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a directory");
    folder.join("tools_calls.json")
}
