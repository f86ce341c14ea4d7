//! A system that cannot confine writes: this one, with Landlock blocked by a seccomp filter.

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter_all_threads};
use tool_builtins::exec::{ProcessCleanup, WriteConfinement};
use tool_runtime::ErrorKind;

use super::support::{Workspace, cleanups, run_in_own_process, run_line, tools};

#[test]
fn runs_nothing_if_required_confinement_is_missing() {
    run_in_own_process("exec::without_landlock::rejects_commands_without_landlock");
}

#[tokio::test]
#[ignore = "blocks Landlock in its own process; the test above runs it"]
async fn rejects_commands_without_landlock() {
    let denied = BTreeMap::from([(libc::SYS_landlock_create_ruleset, Vec::new())]);
    let no_such_call = SeccompAction::Errno(libc::ENOSYS as u32);
    let processor = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(denied, SeccompAction::Allow, no_such_call, processor).unwrap();
    apply_filter_all_threads(&BpfProgram::try_from(filter).unwrap()).unwrap();

    let (workspace, outside) = (Workspace::new(), tempfile::tempdir().unwrap());
    let line = format!("touch inside; touch {}/left", outside.path().display());
    for cleanup in cleanups().await {
        let exec = workspace.exec().cleanup(cleanup).require_confinement();
        assert!(exec.confinement().await.is_err(), "{cleanup:?}");
        let refused = run_line(&tools(exec), &line).await;
        assert_eq!(refused.error.unwrap().kind, ErrorKind::Fatal, "{cleanup:?}");
        assert_eq!(refused.output, "Commands cannot run here: this system cannot confine their writes.");
        assert!(!workspace.path().join("inside").exists() && !outside.path().join("left").exists(), "{cleanup:?}");
    }
    // Control: if confinement is not required, the command runs and writes outside.
    let free = workspace.exec().cleanup(ProcessCleanup::Subreaper);
    assert_eq!(free.confinement().await.unwrap().writes, WriteConfinement::Free);
    assert!(run_line(&tools(free), &line).await.success);
    assert!(workspace.path().join("inside").exists() && outside.path().join("left").exists());
}

#[tokio::test]
async fn runs_commands_if_required_confinement_is_available() {
    let workspace = Workspace::new();
    let writes = workspace.exec().confinement().await.unwrap().writes;
    if writes != WriteConfinement::Confined {
        println!("skipped: this kernel confines writes as {writes:?}");
        return;
    }
    for cleanup in cleanups().await {
        let result =
            run_line(&tools(workspace.exec().cleanup(cleanup).require_confinement()), "echo hello > said").await;
        assert!(result.success, "{cleanup:?}: {}", result.output);
        assert_eq!(std::fs::read_to_string(workspace.path().join("said")).unwrap(), "hello\n");
    }
}
