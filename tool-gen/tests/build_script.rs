//! A package whose build script writes the manifest, built by cargo as an author would.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// An application, a crate with its types, and their directory.
struct Application {
    directory: PathBuf,
}

const BUILD: &str = "fn main() -> tool_gen::Result { tool_gen::scan(\"src/main.rs\").write_to_out_dir() }";

const MAIN: &str = r#"
mod orders;
mod unrelated;
fn main() {
    let tools = tool_runtime::Dispatcher::builder().manifest(tool_runtime::manifest!()).build().unwrap();
    for (name, tool) in tools.manifest().iter() {
        println!("{name} {}", tool.parameters());
    }
}
"#;

const ORDERS: &str = r#"
use domain::Order;
/// Places an order.
#[tool_runtime::tool]
pub fn place(order: Order) -> u32 { order.count }
"#;

const DOMAIN: &str = r#"
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Order { pub count: u32 }
"#;

impl Application {
    fn new(name: &str) -> Self {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        drop(fs::remove_dir_all(&directory));
        let application = Self { directory };
        let profile = "[profile.dev]\ndebug = false\nincremental = false\n";
        application.write(
            "Cargo.toml",
            &format!(
                "[workspace]\nmembers = [\"domain\"]\n{profile}[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\
                 [dependencies]\ndomain = {{ path = \"domain\", package = \"domain-of-{name}\" }}\ntool-runtime = {{ path = {:?} }}\n\
                 [build-dependencies]\ntool-gen = {{ path = {:?} }}\n",
                workspace.join("tool-runtime"),
                workspace.join("tool-gen")
            ),
        );
        application.write(
            "domain/Cargo.toml",
            // Packages with one name in one target directory would overwrite each other.
            &format!(
                "[package]\nname = \"domain-of-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\nname = \"domain\"\n\
                 [dependencies]\n\
                 schemars = {{ version = \"1\", default-features = false, features = [\"derive\", \"std\"] }}\n\
                 serde = {{ version = \"1\", features = [\"derive\"] }}\n"
            ),
        );
        fs::copy(workspace.join("Cargo.lock"), application.directory.join("Cargo.lock")).unwrap();
        for (path, text) in [
            ("build.rs", BUILD),
            ("src/main.rs", MAIN),
            ("src/orders.rs", ORDERS),
            ("src/unrelated.rs", ""),
            ("domain/src/lib.rs", DOMAIN),
            ("domain/src/other.rs", ""),
        ] {
            application.write(path, text);
        }
        application
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn cargo(&self, command: &str) -> Output {
        // Uses the dependencies of this build, so that they are not built again.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([command, "--offline", "-v"]).current_dir(&self.directory);
        cargo.env("CARGO_TARGET_DIR", target).env("CARGO_TERM_COLOR", "never");
        cargo.output().unwrap()
    }

    fn run(&self) -> String {
        let output = self.cargo("run");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    }

    fn fails(&self) -> String {
        let output = self.cargo("build");
        assert!(!output.status.success());
        text(&output.stderr)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_manifest_follows_the_sources() {
    let application = Application::new("follows");
    let first = application.run();
    assert!(first.starts_with("place {") && first.contains("\"count\""), "{first}");

    // Nothing has changed.
    let again = text(&application.cargo("build").stderr);
    assert!(again.contains("Fresh follows"), "{again}");
    application.write("notes.txt", "not a source");
    let again = text(&application.cargo("build").stderr);
    assert!(again.contains("Fresh follows"), "{again}");

    // A type in another crate, and a module that had no tools.
    application.write("domain/src/lib.rs", &DOMAIN.replace("pub count", "pub gift: bool, pub count"));
    application
        .write("src/unrelated.rs", "/// Says it.\n#[tool_runtime::tool]\npub fn say(word: String) -> String { word }");
    let second = application.run();
    assert!(second.contains("\"gift\"") && second.contains("\nsay {"), "{second}");
}

#[test]
fn leaves_compile_errors_to_rustc() {
    let application = Application::new("broken");
    application.write("src/orders.rs", &format!("{ORDERS}\npub fn broken(x: u8 {{ }}\n"));
    let stderr = application.fails();
    let is_left = |line: &&str| line.contains("the manifest lacks what does not compile: ");
    let warning = stderr.lines().find(is_left).unwrap_or_else(|| panic!("{stderr}"));
    assert!(warning.contains("warning") && warning.contains("src/orders.rs:7:"), "{warning}");
    assert!(!stderr.contains("failed to run custom build command"), "{stderr}");
    assert!(stderr.contains("error: ") && stderr.contains("could not compile `broken`"), "{stderr}");

    // An error in an annotation is reported by the macro. The build script names its place.
    application.write("src/orders.rs", &ORDERS.replace("tool]", "tool(nmae = \"x\")]"));
    let stderr = application.fails();
    assert!(stderr.contains("does not compile: ") && stderr.contains("src/orders.rs:4:22"), "{stderr}");
    assert_eq!(stderr.matches("unknown key `nmae`").count(), 1, "{stderr}");
    assert!(stderr.contains("error: unknown key `nmae`"), "{stderr}");
}

#[test]
fn fails_the_build_for_errors_that_rustc_does_not_see() {
    let application = Application::new("clash");
    application.write("src/unrelated.rs", "/// Another.\n#[tool_runtime::tool(name = \"place\")]\npub fn say() {}");
    let stderr = application.fails();
    assert!(stderr.contains("failed to run custom build command"), "{stderr}");
    assert!(stderr.contains("two tools have the name `place`: clash::orders::place"), "{stderr}");
    assert!(stderr.contains("clash::unrelated::say"), "{stderr}");
}

#[test]
fn warns_about_an_unseen_type_and_still_works() {
    let application = Application::new("unseen");
    let by_hand = "
        #[derive(serde::Deserialize)]
        pub struct Order { pub count: u32 }
        impl schemars::JsonSchema for Order {
            fn schema_name() -> std::borrow::Cow<'static, str> { \"Order\".into() }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({\"type\": \"object\", \"properties\": {\"count\": {\"type\": \"integer\"}}})
            }
        }";
    application.write("domain/src/lib.rs", by_hand);
    let output = application.cargo("build");
    let stderr = text(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("src/orders.rs:5:21: argument `order` is `any` in the manifest"), "{stderr}");
    // The program has the schema.
    assert!(application.run().contains("\"count\""));
}
