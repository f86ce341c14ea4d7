//! Selection of packages and their configuration.

use crate::project::Project;

fn tool(name: &str) -> String {
    format!("/// Does it.\n#[tool_runtime::tool(name = \"{name}\")]\npub fn does_{name}() {{}}\n")
}

fn names(project: &Project, arguments: &[&str]) -> Vec<String> {
    let (code, json) = project.json(&[&["show"], arguments].concat());
    assert_eq!(code, 0, "{json}");
    let tools = json["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn workspace() -> Project {
    let project = Project::empty();
    project.write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"one\", \"two\"]\n");
    for name in ["one", "two"] {
        let text = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        project.write(&format!("{name}/Cargo.toml"), &text).write(&format!("{name}/src/lib.rs"), &tool(name));
    }
    project.write("two/src/main.rs", &tool("program"));
    project
}

#[test]
fn selects_packages_like_cargo() {
    let project = workspace();
    assert_eq!(names(&project, &["--workspace"]), ["one", "program", "two"]);
    assert_eq!(names(&project, &[]), ["one", "program", "two"]);
    assert_eq!(names(&project, &["-p", "one"]), ["one"]);
    assert_eq!(names(&project, &["-p", "one", "-p", "two"]), ["one", "program", "two"]);
    assert_eq!(names(&project, &["--manifest-path", "two/Cargo.toml"]), ["program", "two"]);
    let unknown = project.run(&["show", "-p", "onee"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("no package `onee`") && unknown.stderr.contains("did you mean `one`?"));
}

#[test]
fn the_manifest_is_beside_its_package_or_workspace() {
    let project = workspace();
    assert_eq!(project.run(&["write", "-p", "one"]).code, 0);
    assert!(project.path("one/tools_calls.json").exists() && !project.path("tools_calls.json").exists());
    assert_eq!(project.run(&["write", "--workspace"]).code, 0);
    assert!(project.path("tools_calls.json").exists());
}

#[test]
fn features_and_cfgs() {
    let source = format!(
        "#[cfg(feature = \"more\")]\n{}#[cfg(feature = \"usual\")]\n{}#[cfg(special)]\n{}\
         #[cfg(backend = \"sqlite\")]\n{}#[cfg(windows)]\n{}#[cfg(test)]\n{}",
        tool("more"),
        tool("usual"),
        tool("special"),
        tool("sqlite"),
        tool("windows"),
        tool("testing")
    );
    let project = Project::with(&source);
    let text =
        project.read("Cargo.toml") + "[features]\ndefault = [\"usual\"]\nusual = []\nmore = []\nall = [\"more\"]\n";
    project.write("Cargo.toml", &text);
    assert_eq!(names(&project, &[]), ["usual"]);
    assert_eq!(names(&project, &["--no-default-features"]), [""; 0]);
    assert_eq!(names(&project, &["-F", "all"]), ["more", "usual"]);
    assert_eq!(names(&project, &["--all-features"]), ["more", "usual"]);
    assert_eq!(names(&project, &["--cfg", "special", "--cfg", "backend=\"sqlite\""]), ["special", "sqlite", "usual"]);
    assert_eq!(names(&project, &["--target", "x86_64-pc-windows-msvc"]), ["usual", "windows"]);
    let unknown = project.run(&["show", "-F", "mor"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("did you mean `more`?"), "{}", unknown.stderr);
}

#[test]
fn reports_usage_errors() {
    let project = Project::empty();
    let nothing = project.run(&["show"]);
    assert_eq!(nothing.code, 2);
    assert!(nothing.stderr.contains("no Cargo.toml in"), "{}", nothing.stderr);
    assert_eq!(project.run(&["shwo"]).code, 2);
    assert_eq!(project.run(&["show", "--manifest-path", "none/Cargo.toml"]).code, 2);
    for command in ["write", "check", "show", "docs", "lint", "watch", "diff"] {
        let help = project.run(&[command, "--help"]);
        assert_eq!(help.code, 0);
        assert!(help.stdout.contains("Examples:") && help.stdout.contains("--format json"), "{}", help.stdout);
    }
}

/// An application without tools: one of its crates has them.
#[test]
fn names_other_packages_with_tools() {
    let project = workspace();
    let package = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}")
    };
    project.edit("Cargo.toml", "[\"one\", \"two\"]", "[\"one\", \"two\", \"app\"]");
    project.edit("Cargo.toml", "members", "exclude = [\"far\"]\nmembers");
    project.write("far/Cargo.toml", &package("far", "")).write("far/src/lib.rs", &tool("far"));
    let uses = "[dependencies]\ntwo = { path = \"../two\" }\nfar = { path = \"../far\" }\n";
    project.write("app/Cargo.toml", &package("app", uses)).write("app/src/main.rs", "fn main() {}\n");
    for command in ["write", "show", "lint", "docs"] {
        let ran = project.run(&[command, "--manifest-path", "app"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let warning = "warning: `app` has no tools, but `two`, `one` and `far` have some\n";
        assert!(ran.stderr.starts_with(warning), "{command}: {}", ran.stderr);
        let help = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains("`-p two -p one`, or all packages with `--workspace`"), "{help}");
        assert!(help.contains("`--manifest-path far/Cargo.toml`"), "{help}");
    }
    let (_, json) = project.json(&["check", "--manifest-path", "app"]);
    assert_eq!(json["diagnostics"][0]["severity"], "warning");
    assert!(project.run(&["show", "-p", "one"]).stderr.is_empty());
}

/// Handlers in a manifest start with the crate's name, not the package's.
#[test]
fn selects_a_package_by_its_crate_name() {
    let project = workspace();
    project.edit("one/Cargo.toml", "name = \"one\"", "name = \"number-one\"");
    assert_eq!(names(&project, &["-p", "number_one"]), ["one"]);
    project.write("one/Cargo.toml", &(project.read("one/Cargo.toml") + "[lib]\nname = \"uno\"\n"));
    assert_eq!(names(&project, &["-p", "uno"]), ["one"]);
}

#[test]
fn rejects_unknown_cfgs_and_features() {
    let project = workspace();
    let refusal = |arguments: &[&str]| {
        let ran = project.run(&[&["show"], arguments].concat());
        assert_eq!(ran.code, 2, "{}", ran.stdout);
        ran.stderr
    };
    assert!(
        refusal(&["--cfg", "all(a, b)"]).contains("`all(a, b)` is a condition; expected `name` or `name=\"value\"`")
    );
    project.write("one/Cargo.toml", &(project.read("one/Cargo.toml") + "[features]\nmore = []\n"));
    assert_eq!(names(&project, &["-F", "one/more"]), ["one", "program", "two"]);
    let typo = refusal(&["-F", "onee/more"]);
    assert!(typo.contains("is named `onee`") && typo.contains("did you mean `one`?"), "{typo}");
    assert!(refusal(&["-F", "two/more"]).contains("has a feature `two/more`"));
}

/// A package that depends on `kit`, which has a tool, two `manual` classes, and a third one behind a feature.
fn with_kit() -> Project {
    let class = |name: &str| {
        format!(
            "pub struct {name};\n#[tool_runtime::tool_class(manual)]\nimpl {name} {{\n    /// Does it.\n    \
             pub fn run(&self) {{}}\n}}\n"
        )
    };
    let project = Project::with(&(tool("own") + &class("Drawer")));
    project.write("Cargo.toml", &(project.read("Cargo.toml") + "[dependencies]\ntool-kit = { path = \"kit\" }\n"));
    project.write(
        "kit/Cargo.toml",
        "[package]\nname = \"tool-kit\"\nversion = \"0.1.0\"\n[features]\nmore = []\n[workspace]\n",
    );
    let more = format!("#[cfg(feature = \"more\")]\nmod more {{ {} }}\n", class("More"));
    project.write("kit/src/lib.rs", &(tool("plain") + &class("Hammer") + &class("Saw") + &more));
    project
}

#[test]
fn with_includes_the_tools_of_a_dependency_or_of_one_class() {
    let project = with_kit();
    assert_eq!(names(&project, &[]), ["own"]);
    assert_eq!(names(&project, &["--with", "tool-kit"]), ["hammer.run", "own", "plain", "saw.run"]);
    assert_eq!(names(&project, &["--with", "tool_kit::Saw"]), ["own", "saw.run"]);
    assert_eq!(names(&project, &["--with", "shop::Drawer"]), ["drawer.run", "own"]);

    let write = ["write", "--with", "tool-kit::Saw", "--with", "tool-kit::Hammer"];
    assert_eq!(project.run(&write).code, 0);
    assert!(project.read("tools_calls.json").contains("\"handler\": \"tool_kit::Hammer::run\""));
    let check = ["check", "--with", "tool-kit::Saw", "--with", "tool-kit::Hammer"];
    assert_eq!(project.run(&check).code, 0);
    assert_eq!(project.run(&check[..3]).code, 1, "the hammer is not named");
}

#[test]
fn with_uses_the_features_of_the_dependency() {
    let project = with_kit();
    project.edit("Cargo.toml", "path = \"kit\"", "path = \"kit\", features = [\"more\"]");
    assert_eq!(names(&project, &["--with", "tool-kit::More"]), ["more.run", "own"]);
}

#[test]
fn with_reports_names_that_do_not_exist() {
    let project = with_kit();
    for (name, message) in [
        ("tool-kitt", "no scanned crate is named `tool_kitt` or depends on it; did you mean `tool_kit`?"),
        ("tool-kit::Sew", "`tool-kit::Sew`: `tool_kit` has no tool class `Sew`; did you mean `Saw`?"),
        (
            "tool-kit::Screwdriver",
            "has no tool class `Screwdriver`; it has `Hammer`, `Saw`; features may disable others",
        ),
    ] {
        let ran = project.run(&["write", "--with", name]);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
        assert!(!project.path("tools_calls.json").exists());
    }
    let adopt = project.run(&["adopt", "--with", "tool-kit"]);
    assert!(adopt.code == 2 && adopt.stderr.contains("`--with` has no effect on `adopt`"), "{}", adopt.stderr);
}
