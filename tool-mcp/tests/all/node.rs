//! Packages from npm, at pinned versions, under the target folder.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

const PACKAGES: &[&str] = &[
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "node@22.23.3",
];

/// The folder of the packages. Where npm is missing, tests are skipped, and say so; with `MCP_NODE=required` they fail.
pub fn packages() -> Option<&'static PathBuf> {
    static INSTALLED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match INSTALLED.get_or_init(install) {
        Ok(folder) => Some(folder),
        Err(why) if std::env::var("MCP_NODE").is_ok_and(|value| value == "required") => panic!("{why}"),
        Err(why) => {
            eprintln!("SKIPPED: {why}");
            None
        }
    }
}

fn install() -> Result<PathBuf, String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("mcp-packages");
    let (modules, done) = (folder.join("node_modules"), folder.join("installed"));
    let wanted = PACKAGES.join("\n");
    if std::fs::read_to_string(&done).is_ok_and(|known| known == wanted) {
        return Ok(modules);
    }
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let npm = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--no-save", "--prefix"])
        .arg(&folder)
        .args(PACKAGES)
        .output();
    let npm = npm.map_err(|error| format!("npm cannot be run: {error}"))?;
    if !npm.status.success() {
        return Err(format!("npm install failed: {}", String::from_utf8_lossy(&npm.stderr)));
    }
    std::fs::write(done, wanted).map_err(|error| error.to_string())?;
    Ok(modules)
}
