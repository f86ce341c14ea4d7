//! `new`, `init` and `cargo tool-gen`.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::project::{Project, TOOLS};

/// The directory with the built programs, which a user has in `PATH`.
fn with_programs(command: &mut Command) -> &mut Command {
    let programs = Path::new(env!("CARGO_BIN_EXE_cargo-tool-gen")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(programs.to_owned()).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(paths).unwrap())
}

/// The build directory of the workspace, so that built dependencies are shared.
fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap()
}

/// Returns the output of `cargo` in a directory of the project.
fn cargo(project: &Project, directory: &str, arguments: &[&str], input: &str) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(project.path(directory)).args(arguments).env("CARGO_TARGET_DIR", target());
    run(with_programs(&mut command), input)
}

/// Returns the standard output of a command, or the whole output if it fails.
fn run(command: &mut Command, input: &str) -> Result<String, String> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that does not read its input may have closed it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    if output.status.success() { Ok(stdout) } else { Err(stdout + &String::from_utf8_lossy(&output.stderr)) }
}

/// Returns `true` if generated packages are to be built, which takes minutes without built dependencies.
fn builds() -> bool {
    let builds = std::env::var_os("STARTER_BUILD").is_some_and(|value| value == "required");
    if !builds {
        eprintln!("skipped: set STARTER_BUILD=required to build generated packages");
    }
    builds
}

/// Uses the dependencies of the workspace, so that nothing is resolved again.
fn lock(project: &Project, directory: &str) {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    std::fs::copy(lock, project.path(directory).join("Cargo.lock")).unwrap();
}

#[test]
fn cargo_runs_it_as_a_subcommand() {
    let project = Project::with(TOOLS);
    cargo(&project, "", &["tool-gen", "write"], "").unwrap();
    assert!(project.read("tools_calls.json").contains("metrics.newest"));
    let shown = cargo(&project, "", &["tool-gen", "show", "--format", "json"], "").unwrap();
    assert!(shown.contains("metrics.purge"), "{shown}");
    let usage = cargo(&project, "", &["tool-gen", "sweep"], "").unwrap_err();
    assert!(usage.contains("Usage: cargo tool-gen"), "{usage}");
    let direct = project.run(&["sweep"]);
    assert!(direct.stderr.contains("Usage: tool-gen"), "{}", direct.stderr);
}

#[test]
fn new_writes_a_package_whose_tools_are_found() {
    let project = Project::empty();
    let ran = project.run(&["new", "my-tools"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("next: cd my-tools && cargo test"), "{}", ran.stderr);
    assert!(project.read("my-tools/Cargo.toml").contains("name = \"my-tools\""));
    assert!(project.read("my-tools/tools_calls.json").contains("my_tools::tools::NoteService::clear"));
    assert!(!project.path("my-tools/.github").exists(), "the workflow is optional");
    let (code, shown) = project.json(&["show", "--manifest-path", "my-tools"]);
    assert_eq!(code, 0);
    for tool in ["notes.add", "notes.clear", "notes.read"] {
        assert!(shown.to_string().contains(tool), "{shown}");
    }
    let again = project.run(&["new", "my-tools"]);
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("already exists"), "{}", again.stderr);
}

#[test]
fn new_writes_a_workflow_if_asked() {
    let project = Project::empty();
    let ran = project.run(&["new", "checked", "--ci"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(project.read("checked/.github/workflows/ci.yml").contains("cargo test --locked"));
}

#[test]
fn dependencies_come_from_the_checkout_or_the_registry() {
    let project = Project::empty();
    let manifest = |arguments: &[&str], name: &str| {
        let ran = project.run(&[&["new", name], arguments].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        project.read(&format!("{name}/Cargo.toml"))
    };
    assert!(manifest(&[], "own").contains("tool-runtime = { path = "));
    let checkout = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    assert!(manifest(&["--path", checkout], "path").contains("tool-mcp = { path = "));
    assert!(manifest(&["--published"], "registry").contains("tool-gen = \"0.1.0\""));

    let wrong = project.run(&["new", "wrong", "--path", "own"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("it has no tool-runtime/Cargo.toml"), "{}", wrong.stderr);
    assert!(!project.path("wrong").exists(), "a failure must not leave a package");
}

#[test]
fn init_keeps_what_exists_and_runs_twice() {
    let project = Project::empty();
    project.write("Cargo.toml", "# Ours.\n[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    project.write("src/lib.rs", "//! The shop.\n\npub mod orders;\n").write("src/orders.rs", "");
    let (code, first) = project.json(&["init"]);
    assert_eq!(code, 0);
    let files = ["Cargo.toml", "src/tools.rs", "src/lib.rs", "build.rs", "tools_calls.json"];
    assert_eq!(first["written"], serde_json::json!(files));
    assert!(first["next"].to_string().contains("tool-gen adopt"), "{first}");
    assert_eq!(project.read("src/lib.rs"), "//! The shop.\n\npub mod tools;\npub mod orders;\n");
    assert!(project.read("build.rs").contains("scan(\"src/lib.rs\")"));
    assert!(project.read("Cargo.toml").starts_with("# Ours.\n[package]\n"));

    project.edit("src/tools.rs", "Write a note.", "Keep a note.");
    let (code, second) = project.json(&["init"]);
    assert_eq!((code, second), (0, serde_json::json!({"written": [], "next": []})));
    assert!(project.read("src/tools.rs").contains("Keep a note."));
}

#[test]
fn init_says_what_to_add_to_an_existing_build_script() {
    let project = Project::empty();
    project.write("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    project.write("src/main.rs", "fn main() {}\n").write("build.rs", "fn main() {}\n");
    let (code, report) = project.json(&["init"]);
    assert_eq!(code, 0);
    assert_eq!(report["next"][0], "add to `main` in build.rs: `tool_gen::scan(\"src/main.rs\").write_to_out_dir()?;`");
    assert_eq!(project.read("build.rs"), "fn main() {}\n");
    assert_eq!(project.read("src/main.rs"), "mod tools;\n\nfn main() {}\n");
}

#[test]
fn a_failed_init_changes_nothing() {
    let project = Project::empty();
    project.write("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    let manifest = project.read("Cargo.toml");
    project.write("src/main.rs", "mod tools;\nfn main() {}\n").write("src/tools.rs", "pub fn hammer() {}\n");
    let foreign = project.run(&["init"]);
    assert_eq!(foreign.code, 2);
    assert!(foreign.stderr.contains("src/tools.rs exists and has no tools"), "{}", foreign.stderr);
    std::fs::remove_file(project.path("src/tools.rs")).unwrap();
    project.write("src/main.rs", "fn main( {}\n");
    let broken = project.run(&["init"]);
    assert_eq!(broken.code, 2);
    assert!(broken.stderr.contains("src/main.rs: not valid Rust at line 1"), "{}", broken.stderr);
    assert_eq!(project.read("Cargo.toml"), manifest);
    assert!(!project.path("src/tools.rs").exists() && !project.path("build.rs").exists());
}

#[test]
fn init_needs_a_package() {
    let project = Project::empty();
    project.write("Cargo.toml", "[workspace]\nmembers = []\nresolver = \"3\"\n");
    let ran = project.run(&["init"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("is a workspace without a package"), "{}", ran.stderr);
}

#[test]
fn a_new_package_builds_passes_its_tests_and_serves_mcp_clients() {
    if !builds() {
        return;
    }
    let project = Project::empty();
    let ran = project.run(&["new", "starter-new"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    lock(&project, "starter-new");
    let tested = cargo(&project, "starter-new", &["test", "--offline"], "").unwrap();
    assert!(tested.contains("4 passed"), "{tested}");
    cargo(&project, "starter-new", &["build", "--offline"], "").unwrap();
    let program = |arguments: &[&str], input: &str| {
        let file = target().join("debug").join(format!("starter-new{}", std::env::consts::EXE_SUFFIX));
        run(Command::new(file).args(arguments), input)
    };
    assert!(program(&[], "").unwrap().contains("notes.add: Write a note."));
    assert_eq!(program(&["notes.add", r#"{"text": "milk"}"#], "").as_deref(), Ok("1\n"));
    assert!(program(&["notes.read", r#"{"number": 3}"#], "").unwrap_err().contains("there is no note 3"));
    let requests = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"#,
        r#""clientInfo":{"name":"test","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        "\n",
    );
    let served = program(&["mcp"], requests).unwrap();
    assert!(served.contains("Delete all notes."), "{served}");

    // The control: the test fails when the tool fails.
    project.edit("starter-new/src/tools.rs", "notes.push(text);", "drop(text);");
    let broken = cargo(&project, "starter-new", &["test", "--offline"], "").unwrap_err();
    assert!(broken.contains("a_note_can_be_read ... FAILED"), "{broken}");
}

#[test]
fn a_package_builds_after_init() {
    if !builds() {
        return;
    }
    let project = Project::empty();
    project.write("Cargo.toml", "[package]\nname = \"starter-init\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    project.write("src/lib.rs", "//! The shop.\n\npub fn price() -> u32 {\n    3\n}\n");
    let ran = project.run(&["init"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    lock(&project, "");
    let tested = cargo(&project, "", &["test", "--offline", "--lib"], "").unwrap();
    assert!(tested.contains("4 passed"), "{tested}");
}
