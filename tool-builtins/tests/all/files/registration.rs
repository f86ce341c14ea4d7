//! Registration of the file tools.

use tool_builtins::files::Files;
use tool_runtime::{Dispatcher, Manifest, Selection};

use super::TestWorkspace;

const NAMES: [&str; 8] =
    ["apply_patch", "delete_file", "edit_file", "list_files", "move_file", "read_file", "search_files", "write_file"];

#[test]
fn only_the_service_registers_the_tools() {
    let manifest = TestWorkspace::new().tools.manifest();
    assert_eq!(manifest.iter().map(|(name, _)| name).collect::<Vec<_>>(), NAMES);
    assert!(Manifest::linked().iter().all(|(name, _)| !NAMES.contains(&name)));
}

#[test]
fn names_tools_that_cannot_succeed() {
    for (allowed, unusable) in [(false, &["delete_file"][..]), (true, &[])] {
        let directory = tempfile::tempdir().unwrap();
        let files = Files::new(directory.path()).unwrap().allow_delete(allowed);
        assert_eq!(files.unusable(), unusable);
        let selection = Selection::new().hide(files.unusable());
        let tools = Dispatcher::builder().service(files).build().unwrap().select(selection).unwrap();
        let offered = tools.manifest();
        let expected: Vec<_> = NAMES.into_iter().filter(|name| !unusable.contains(name)).collect();
        assert_eq!(offered.iter().map(|(name, _)| name).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn describes_every_tool_and_argument() {
    for (name, tool) in TestWorkspace::new().tools.manifest().iter() {
        assert!(tool.description.len() > 20, "{name}: {}", tool.description);
        for (argument, schema) in &tool.arguments {
            assert!(schema.description.as_ref().is_some_and(|text| text.len() > 10), "{name} {argument}");
        }
    }
}

#[test]
fn writing_tools_are_sensitive_and_others_read_only() {
    let workspace = TestWorkspace::new();
    for name in NAMES {
        let tool = workspace.tools.definition(name).unwrap();
        let reads = ["read_file", "list_files", "search_files"].contains(&name);
        assert_eq!((tool.read_only, tool.sensitive, tool.destructive), (reads, !reads, !reads), "{name}");
    }
}

#[test]
fn names_a_workspace_that_cannot_be_opened() {
    let error = Files::new("/nowhere/at/all").unwrap_err();
    assert!(error.to_string().contains("the workspace /nowhere/at/all"), "{error}");
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(Files::new(file.path()).is_err());
}

#[test]
fn rejects_two_workspaces() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let both = Dispatcher::builder()
        .service(Files::new(one.path()).unwrap())
        .service(Files::new(other.path()).unwrap())
        .build();
    assert!(both.is_err(), "the second would hide the first");
}
