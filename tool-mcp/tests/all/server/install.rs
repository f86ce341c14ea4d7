use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tool-mcp");

/// Runs `tool-mcp install` with this home directory.
fn install(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.arg("install").args(arguments).current_dir(home);
    command
        .env("HOME", home)
        .env("USERPROFILE", home)
        .env("APPDATA", home.join(".config"))
        .env_remove("XDG_CONFIG_HOME");
    command.output().unwrap()
}

fn installed(home: &Path, arguments: &[&str]) -> String {
    let output = install(home, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    stderr
}

fn refused(home: &Path, arguments: &[&str]) -> String {
    let output = install(home, arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn read_json(file: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn creates_the_file_of_a_client_once() {
    let home = tempfile::tempdir().unwrap();
    let arguments = ["cursor", "--name", "files", "--env", "KEY=a=b", "--", "npx", "--files", "/work"];
    let first = installed(home.path(), &arguments);
    let file = home.path().join(".cursor/mcp.json");
    let expected = json!({"command": "npx", "args": ["--files", "/work"], "env": {"KEY": "a=b"}});
    assert_eq!(read_json(&file), json!({"mcpServers": {"files": expected}}));
    assert!(first.contains("restart Cursor") && !first.contains("previous file"), "{first}");
    let second = installed(home.path(), &arguments);
    assert!(second.contains("`files` is already in"), "{second}");
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "an unchanged file needs no backup");
}

#[test]
fn keeps_comments_and_a_backup() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".vscode/mcp.json");
    fs::create_dir(file.parent().unwrap()).unwrap();
    let before = "{\n  // Ours.\n  \"servers\": {\n    \"shop\": {\"url\": \"https://example.com\"}\n  }\n}\n";
    fs::write(&file, before).unwrap();
    let arguments = |command: &'static str| ["vscode", "--project", ".", "--name", "notes", "--force", "--", command];
    installed(home.path(), &arguments("one"));
    installed(home.path(), &arguments("two"));
    let after = fs::read_to_string(&file).unwrap();
    assert!(after.contains("// Ours.") && after.contains("\"two\"") && !after.contains("\"one\""), "{after}");
    assert_eq!(fs::read_to_string(home.path().join(".vscode/mcp.json.bak")).unwrap(), before);
    assert!(fs::read_to_string(home.path().join(".vscode/mcp.json.bak2")).unwrap().contains("\"one\""));
}

#[test]
fn a_file_that_cannot_be_edited_is_unchanged() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("config.json");
    let arguments = ["claude-code", "--config", "config.json", "--name", "notes", "--", "server"];
    for (before, expected) in [
        ("{\"mcpServers\": ", "not valid JSON"),
        ("{\"mcpServers\": []}", "`mcpServers` is not an object"),
        ("{\"mcpServers\": {\"notes\": {\"command\": \"other\"}}}", "`--force`"),
    ] {
        fs::write(&file, before).unwrap();
        let error = refused(home.path(), &arguments);
        assert!(error.contains("config.json is unchanged: ") && error.contains(expected), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
    }
    fs::write(&file, [0xff, 0xfe]).unwrap();
    assert!(refused(home.path(), &arguments).contains("cannot read config.json"));
    assert_eq!(fs::read(&file).unwrap(), [0xff, 0xfe]);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "a failure leaves no backup");
}

#[test]
fn warns_of_a_program_that_does_not_exist() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("server"), "").unwrap();
    let warning = |name: &str, program: &str| installed(home.path(), &["cursor", "--name", name, "--", program]);
    for (name, program) in [("one", "./nonexistent"), ("two", "no-such-program-on-the-path")] {
        let said = warning(name, program);
        assert!(said.contains("does not exist or is not on the PATH; Cursor cannot start it"), "{said}");
    }
    // The controls: a file, and a program on the PATH.
    for (name, program) in [("three", "./server"), ("four", "cargo")] {
        let said = warning(name, program);
        assert!(!said.contains("warning"), "{said}");
    }
}

#[test]
fn print_writes_nothing() {
    let home = tempfile::tempdir().unwrap();
    for (client, expected) in [
        (
            "gemini",
            "{\n  \"mcpServers\": {\n    \"shop-example-com\": {\n      \"httpUrl\": \"https://shop.example.com/mcp\"\n",
        ),
        ("goose", "extensions:\n  shop-example-com:\n"),
    ] {
        let output = install(home.path(), &[client, "--print", "--url", "https://shop.example.com/mcp"]);
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && stdout.starts_with(expected), "{stdout}");
    }
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn rejects_what_a_client_cannot_use() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (&["cursor"][..], "COMMAND"),
        (&["emacs", "--", "server"], "claude-desktop"),
        (&["claude-desktop", "--url", "https://example.com/mcp"], "Connectors"),
        (&["goose", "--project", ".", "--", "server"], "goose has no configuration per project"),
        (&["cursor", "--name", "my tools", "--", "server"], "`my tools` is not a server name"),
        (&["cursor", "--url", "ftp://example.com"], "use http or https"),
        (&["cursor", "--env", "KEY", "--", "server"], "expected NAME=VALUE"),
        (&["cursor", "--header", "A=b", "--", "server"], "cannot be used with"),
        (&["cursor", "--env", "A=b", "--url", "https://example.com"], "cannot be used with"),
    ] {
        let error = refused(home.path(), arguments);
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

/// The rules of the registry's schema for names and descriptions, and what the registry looks up on crates.io.
#[test]
fn the_registry_entry_is_that_of_this_version() {
    let entry = read_json(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/server.json")));
    let (version, package) = (env!("CARGO_PKG_VERSION"), &entry["packages"][0]);
    assert_eq!((&entry["version"], &package["version"]), (&json!(version), &json!(version)));
    assert_eq!((&package["registryType"], &package["identifier"]), (&json!("cargo"), &json!(env!("CARGO_PKG_NAME"))));
    let (namespace, name) = entry["name"].as_str().unwrap().split_once('/').unwrap();
    assert!(!namespace.is_empty() && name == env!("CARGO_PKG_NAME"));
    assert!((1..=100).contains(&entry["description"].as_str().unwrap().chars().count()));
    // Every argument in the entry is an argument of the program.
    let help = String::from_utf8(Command::new(PROGRAM).arg("--help").output().unwrap().stdout).unwrap();
    for argument in package["packageArguments"].as_array().unwrap() {
        let name = argument["name"].as_str().unwrap();
        assert!(help.contains(name), "`{name}` is not an argument");
    }
}

#[cfg(unix)]
#[test]
fn links_and_permissions_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let real = home.path().join("dotfiles.json");
    fs::write(&real, "{}").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    let link = home.path().join(".claude.json");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    installed(home.path(), &["claude-code", "--", "server"]);
    assert!(link.is_symlink());
    assert_eq!(read_json(&real)["mcpServers"]["server"]["type"], "stdio");
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    installed(home.path(), &["gemini", "--", "server"]);
    let created = home.path().join(".gemini/settings.json");
    assert_eq!(fs::metadata(created).unwrap().permissions().mode() & 0o777, 0o600, "an entry can have secrets");
}
