//! An annotated service as an MCP server.
//!
//! Build it with `cargo build -p tool-mcp --example serve`, then add it to the configuration of a client, such as
//! `.mcp.json` or `claude_desktop_config.json`:
//!
//! ```json
//! {
//!   "mcpServers": {
//!     "notes": {"command": "/path/to/target/debug/examples/serve"}
//!   }
//! }
//! ```

use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tool_runtime::{Dispatcher, Progress, tool, tool_class};

#[derive(Default)]
struct NoteService {
    notes: Mutex<Vec<String>>,
}

/// A note and its position.
#[derive(Serialize, JsonSchema)]
struct Note {
    number: usize,
    text: String,
}

#[tool_class(prefix = "notes")]
impl NoteService {
    /// Write a note.
    pub fn add(&self, text: String) -> Note {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push(text.clone());
        Note { number: notes.len(), text }
    }

    /// Count the notes.
    #[tool(read_only)]
    pub fn count(&self) -> usize {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Delete all notes.
    #[tool(sensitive, destructive)]
    pub fn clear(&self) -> &'static str {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clear();
        "All notes are gone."
    }

    /// Write many notes, with progress reports.
    pub async fn import(&self, texts: Vec<String>, #[inject] progress: &Progress) -> usize {
        let total = texts.len();
        for (index, text) in texts.into_iter().enumerate() {
            self.add(text);
            progress.report(json!({"progress": index + 1, "total": total}));
            tokio::task::yield_now().await;
        }
        total
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = Dispatcher::builder().service(NoteService::default()).build()?;
    tool_mcp::serve_stdio(tools).await?;
    Ok(())
}
