//! Writes the manifest of the services that this application uses.

use std::path::PathBuf;

use linked_services as _;
use tool_runtime::Manifest;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Cargo runs this again when the services change: they are part of this program.
    println!("cargo::rerun-if-changed=build.rs");
    Manifest::linked().save(PathBuf::from(std::env::var("OUT_DIR")?).join("tools_calls.json"))?;
    Ok(())
}
