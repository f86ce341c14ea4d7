//! The versions of all contenders, and why some are not the newest.

use std::fs;

use super::table::table;
use crate::Outcome;
use crate::cargo::benches;

/// The crates that a user of each library depends on, and remarks.
const CRATES: [(&str, &str); 10] = [
    ("rmcp", "router called directly; and client and server over `tokio::io::duplex`"),
    ("rig-core", "newest version that builds with this compiler: later ones need Rust 1.97"),
    ("rig-agent", "contains `ToolSet` since rig was split; same version as `rig-core`"),
    ("tools-rs", "has no schema for `Uuid`, `DateTime`, `BTreeMap`: that of the order is handwritten and short"),
    ("swiftide", "tools are looked up by linear search, as its agent does; later versions need Rust 1.97"),
    ("llm-tool", "called with JSON text (`dispatch_str`)"),
    (
        "turbomcp",
        "newest release; handler called directly. A server with 1,000 tools did not compile within seven \
         minutes and 4 GB",
    ),
    ("serde_json", "for everyone"),
    ("schemars", "for all libraries that infer a schema, except tools-rs"),
    ("tokio", "for everyone"),
];

pub fn section() -> Outcome<String> {
    let lock = fs::read_to_string(benches().join("Cargo.lock"))?;
    let version = |name: &str| {
        let package = format!("name = \"{name}\"\nversion = \"");
        let found = lock.split(&package).nth(1).and_then(|rest| rest.split('"').next());
        found.map_or_else(|| "–".to_owned(), ToOwned::to_owned)
    };
    let rows: Vec<Vec<String>> =
        CRATES.iter().map(|(name, note)| vec![format!("`{name}`"), version(name), (*note).to_owned()]).collect();
    let table = table(&["crate", "version", "how it is used"], &rows).replace("|--:|\n", "|---|\n");
    Ok(format!("## Who takes part\n\n{table}"))
}
