//! What is offered, and when.

use tool_builtins::files::Files;
use tool_runtime::{Dispatcher, Manifest, Selection};

use super::World;

const NAMES: [&str; 8] =
    ["apply_patch", "delete_file", "edit_file", "list_files", "move_file", "read_file", "search_files", "write_file"];

#[test]
fn the_service_offers_its_tools_and_linking_it_offers_none() {
    let manifest = World::new().tools.manifest();
    assert_eq!(manifest.iter().map(|(name, _)| name).collect::<Vec<_>>(), NAMES);
    assert!(Manifest::linked().iter().all(|(name, _)| !NAMES.contains(&name)));
}

#[test]
fn what_can_only_fail_is_named_so_that_it_is_not_offered() {
    for (allowed, unusable) in [(false, &["delete_file"][..]), (true, &[])] {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::new(folder.path()).unwrap().allow_delete(allowed);
        assert_eq!(files.unusable(), unusable);
        let of_use = Selection::new().hide(files.unusable());
        let tools = Dispatcher::builder().service(files).build().unwrap().select(of_use).unwrap();
        let offered = tools.manifest();
        let expected: Vec<_> = NAMES.into_iter().filter(|name| !unusable.contains(name)).collect();
        assert_eq!(offered.iter().map(|(name, _)| name).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn every_tool_and_every_argument_is_described() {
    for (name, tool) in World::new().tools.manifest().iter() {
        assert!(tool.description.len() > 20, "{name}: {}", tool.description);
        for (argument, schema) in &tool.arguments {
            assert!(schema.description.as_ref().is_some_and(|text| text.len() > 10), "{name} {argument}");
        }
    }
}

#[test]
fn what_changes_something_is_sensitive_and_what_only_looks_is_read_only() {
    let world = World::new();
    for name in NAMES {
        let tool = world.tools.definition(name).unwrap();
        let looks = ["read_file", "list_files", "search_files"].contains(&name);
        assert_eq!((tool.read_only, tool.sensitive, tool.destructive), (looks, !looks, !looks), "{name}");
    }
}

#[test]
fn a_workspace_that_is_none_is_an_error_that_names_it() {
    let error = Files::new("/nowhere/at/all").unwrap_err();
    assert!(error.to_string().contains("the workspace /nowhere/at/all"), "{error}");
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(Files::new(file.path()).is_err());
}

#[test]
fn two_workspaces_cannot_be_confused() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let both = Dispatcher::builder()
        .service(Files::new(one.path()).unwrap())
        .service(Files::new(other.path()).unwrap())
        .build();
    assert!(both.is_err(), "the second would hide the first");
}
