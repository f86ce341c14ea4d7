//! Published crates are adopted, compiled and called. Needs the registry and some minutes:
//! `cargo test -p parity-tests adopt -- --ignored`.

use std::path::PathBuf;

use parity_tests::adopt::{CRATES, PublishedCrate, Registry};
use parity_tests::adopted::AdoptedCrate;

fn published(name: &str) -> PublishedCrate {
    *CRATES.iter().find(|krate| krate.name == name).expect("the crate is in the list")
}

/// Runs the program of an adopted crate and checks the results of its calls, by tool and a part of the output.
fn check(adopted: &AdoptedCrate, expected: &[(&str, &str)]) {
    let directory = tempfile::tempdir().expect("a directory outside of the checkout");
    let downloads = directory.path().join("downloads");
    let registry = Registry::download(&downloads, &[adopted.krate]).expect("the registry");
    let sources = registry.sources(&adopted.krate).expect("the crate's sources");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| directory.path().join("target"), PathBuf::from);
    let output = adopted.run(&sources, directory.path(), &target).unwrap_or_else(|error| panic!("{error}"));
    let lines: Vec<&str> = output.lines().collect();
    assert!(expected.len() >= 10, "ten tools are called");
    assert_eq!(lines.len(), expected.len(), "{output}");
    for (line, (tool, part)) in lines.iter().zip(expected) {
        assert!(line.starts_with(&format!("{tool} ok ")) && line.contains(part), "{tool}, {part}: {line}");
    }
}

#[test]
#[ignore = "downloads and compiles a published crate"]
fn taskchampion_is_adopted() {
    let adopted = AdoptedCrate {
        krate: published("taskchampion"),
        features: &[],
        classes: &["Replica"],
        instances: &["Replica<crate::storage::inmemory::InMemoryStorage>"],
        program: include_str!("../adopted/taskchampion.rs"),
        dependencies: "",
    };
    let id = "2f0b0c3e-9a0f-4d1c-8a52-1d3f6a7b8c9d";
    check(
        &adopted,
        &[
            ("replica.num_local_operations", "0"),
            ("replica.create_task", id),
            ("replica.commit_operations", "ok"),
            ("replica.num_undo_points", "1"),
            ("replica.all_task_uuids", id),
            ("replica.get_task", "Task {"),
            ("replica.get_task_data", "TaskData {"),
            ("replica.get_task_operations", "\"Create\""),
            ("replica.update_task", "Buy milk"),
            ("replica.all_task_data", "Buy milk"),
            ("replica.rebuild_working_set", "ok"),
            ("replica.working_set", "WorkingSet {"),
            ("replica.get_undo_operations", "Buy milk"),
            ("replica.num_local_operations", "2"),
        ],
    );
}

#[test]
#[ignore = "downloads and compiles a published crate"]
fn pueue_is_adopted() {
    let adopted = AdoptedCrate {
        krate: published("pueue-lib"),
        features: &["settings"],
        classes: &["Shared", "Settings", "State"],
        instances: &[],
        program: include_str!("../adopted/pueue.rs"),
        dependencies: "",
    };
    check(
        &adopted,
        &[
            ("shared.pueue_directory", "/tmp/pueue-tools"),
            ("shared.alias_file", "pueue_aliases.yml"),
            ("shared.pid_path", "pueue.pid"),
            ("shared.daemon_cert", "daemon.cert"),
            ("shared.daemon_key", "daemon.key"),
            ("shared.shared_secret_path", "shared_secret"),
            ("state.add_task", "0"),
            ("state.add_task", "1"),
            ("state.task_ids_in_group", "[0,1]"),
            ("state.filter_tasks", "matching_ids"),
            ("settings.save", "ok"),
            ("state.task_ids_in_group", "[]"),
        ],
    );
}

#[test]
#[ignore = "downloads and compiles a published crate"]
fn octocrab_is_adopted() {
    let adopted = AdoptedCrate {
        krate: published("octocrab"),
        features: &["default-client", "jwt-rust-crypto", "rustls", "rustls-ring"],
        classes: &[
            "CodesOfConductHandler",
            "EmojisHandler",
            "GitignoreHandler",
            "LicenseHandler",
            "MarkdownHandler",
            "NotificationsHandler",
            "StarringHandler",
        ],
        instances: &[],
        program: include_str!("../adopted/octocrab.rs"),
        dependencies: "",
    };
    check(
        &adopted,
        &[
            ("gitignore_handler.list", "[\"C\",\"Rust\"]"),
            ("gitignore_handler.get", "*.o"),
            ("license_handler.list_commonly_used", "MIT License"),
            ("license_handler.get", "MIT License"),
            ("emojis_handler.list", "crab.png"),
            ("codes_of_conduct_handler.get_code_of_conduct", "Citizen"),
            ("markdown_handler.render_raw", "<em>a</em>"),
            ("starring_handler.check", "true"),
            ("starring_handler.star", "ok"),
            ("starring_handler.unstar", "ok"),
            ("notifications_handler.mark_as_read", "ok"),
            ("notifications_handler.mark_all_as_read", "ok"),
        ],
    );
}
