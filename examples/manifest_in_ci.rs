//! A committed manifest shows in every review which tools a change adds or alters. A test keeps it up to date.
//!
//! ```sh
//! cargo run -p examples --example manifest_in_ci -- write
//! cargo test -p examples --example manifest_in_ci
//! cargo run -p examples --example manifest_in_ci
//! ```
//!
//! In a package with one set of tools the file is `tools_calls.json`, next to `Cargo.toml`, and `cargo tool-gen write`,
//! `check`, `lint` and `diff` work on it without building the program.

use tool_runtime::{Dispatcher, Manifest, ToolCall, tool};

/// Look up a word in the dictionary.
#[tool(name = "dictionary.look_up", read_only)]
fn look_up(word: &str) -> Option<&'static str> {
    (word == "tool").then_some("a thing that helps with work")
}

/// Add a word to the dictionary.
#[tool(name = "dictionary.add", tags = ["write"])]
fn add(word: &str, #[arg(max_length = 200)] meaning: &str) -> String {
    format!("{word}: {meaning}")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().nth(1).as_deref() == Some("write") {
        // Lists all tools of this binary, sorted by name.
        Manifest::linked().save(concat!(env!("CARGO_MANIFEST_DIR"), "/manifest_in_ci.json"))?;
        return Ok(());
    }
    // Embeds the file. A dispatcher with a manifest offers the tools in it, with the descriptions in it. `build` fails if
    // an entry contradicts the code, so a program with a stale manifest does not start.
    let tools = Dispatcher::builder().manifest(tool_runtime::manifest!("manifest_in_ci.json")).build()?;
    println!("{}", tools.catalogue());
    println!("{}", tools.call(ToolCall::from_text("dictionary.look_up", r#"{"word": "tool"}"#)).await.output);
    Ok(())
}

/// Fails with the differences between the file and the code.
#[test]
fn the_manifest_is_up_to_date() {
    tool_runtime::assert_manifest!("manifest_in_ci.json");
}
