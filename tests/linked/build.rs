//! Writes the manifest of the services that this application uses.

use std::path::PathBuf;

use linked_services as _;
use tool_runtime::Manifest;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Cargo reruns this script when the services change, because the script depends on them.
    println!("cargo::rerun-if-changed=build.rs");
    Manifest::linked().save(PathBuf::from(std::env::var("OUT_DIR")?).join("tools_calls.json"))?;
    Ok(())
}
