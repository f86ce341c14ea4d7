//! Contents of `Cargo.toml`: names, features, and relevant files.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tool_gen::ScanOutput;

use super::project::Project;

const TOOL: &str = "#[tool_runtime::tool]\nfn f() {}\n";
const ORDER: &str = "#[derive(serde::Deserialize, schemars::JsonSchema)]\n\
    pub struct Order { pub id: u8, #[cfg(feature = \"extra\")] pub extra: u8 }\n\
    #[cfg(feature = \"extra\")]\n#[tool_runtime::tool]\nfn extra() {}\n";
const DEPENDENCY: &str =
    "[package]\nname = \"domain\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[features]\nextra = []\n";

#[test]
fn a_feature_of_an_optional_dependency_enables_it() {
    let text = format!("#[cfg(feature = \"domain\")]\n{TOOL}");
    for (list, is_on) in [("domain/extra", true), ("domain?/extra", false), ("dep:domain", false)] {
        let tables = format!(
            "[features]\ndefault = [\"{list}\"]\n[dependencies]\ndomain = {{ path = \"domain\", optional = true }}"
        );
        let project = Project::new(&tables, &text).with("domain/Cargo.toml", DEPENDENCY);
        assert_eq!(project.scan().manifest.get("f").is_some(), is_on, "{list}");
    }
}

#[test]
fn a_feature_can_enable_a_feature_of_a_dependency() {
    let tables = "[features]\ndefault = [\"domain/extra\"]\n[dependencies]\ndomain = { path = \"domain\" }";
    let project = Project::new(tables, "#[tool_runtime::tool]\nfn f(o: domain::Order) {}\n")
        .with("domain/Cargo.toml", DEPENDENCY)
        .with("domain/src/lib.rs", ORDER);
    let has_extra = |scanned: &ScanOutput| {
        let tool = scanned.manifest.get("f").expect("the tool is there");
        tool.parameters().pointer("/$defs/Order/properties/extra").is_some()
    };
    assert!(has_extra(&project.scan()));
    // A dependency that is scanned too has the features that the first crate enables.
    let both = project.library().and(project.path("domain/src/lib.rs")).run().expect("both can be read");
    assert!(has_extra(&both) && both.manifest.get("extra").is_some());
    assert!(tool_gen::scan(project.path("domain/src/lib.rs")).run().expect("it can be read").manifest.is_empty());
}

#[test]
fn a_path_may_contain_a_dot() {
    let project = Project::new("[lib]\nname = \"other\"\npath = \"./src/lib.rs\"", TOOL);
    assert_eq!(project.scan().manifest.get("f").expect("the tool").handler, "other::f");
}

#[track_caller]
fn depends_on(scanned: &ScanOutput, file: &Path) {
    assert!(scanned.files.iter().any(|known| known == file), "{}: {:#?}", file.display(), scanned.files);
}

#[test]
fn missing_and_unreadable_files_are_checked_again() {
    let project = Project::new("", "mod gone;\nmod secret;\nmod latin;\n#[path = \"far.rs\"] mod far;\n")
        .with("src/secret.rs", "")
        .with("src/latin.rs", b"// caf\xe9\n");
    std::fs::set_permissions(project.path("src/secret.rs"), std::fs::Permissions::from_mode(0o000))
        .expect("it is ours");
    let scanned = project.scan();
    for file in ["src/lib.rs", "src/gone.rs", "src/gone/mod.rs", "src/secret.rs", "src/latin.rs", "src/far.rs"] {
        depends_on(&scanned, &project.path(file));
    }
}

#[test]
fn inherited_keys_and_dependencies_are_tracked() {
    let project = Project::new("", "")
        .with(
            "Cargo.toml",
            "[workspace]\nmembers = [\"app\"]\n[workspace.dependencies]\ndomain = { path = \"domain\" }\n",
        )
        .with("app/Cargo.toml", "[package]\nname = \"app\"\n[dependencies]\ndomain = { workspace = true }\n")
        .with("app/src/lib.rs", "#[tool_runtime::tool]\nfn f(o: domain::Order) {}\n")
        .with("domain/Cargo.toml", DEPENDENCY)
        .with("domain/src/lib.rs", "mod schema;\n#[derive(serde::Deserialize)] pub struct Order;")
        .with("domain/src/schema.rs", "impl schemars::JsonSchema for crate::Order {}\n");
    let scanned = tool_gen::scan(project.path("app/src/lib.rs")).run().expect("it can be read");
    for file in ["Cargo.toml", "app/Cargo.toml", "domain/Cargo.toml", "domain/src/lib.rs", "domain/src/schema.rs"] {
        depends_on(&scanned, &project.path(file));
    }
}
