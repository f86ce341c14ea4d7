//! An MCP server over standard input and output, for Claude, Cursor, VS Code and other MCP clients.
//!
//! ```sh
//! cargo run -p examples --example mcp_server
//! ```
//!
//! A client starts the program itself. Its configuration has an entry such as
//! `{"mcpServers": {"notes": {"command": "/path/to/target/debug/examples/mcp_server"}}}`.

use std::sync::Mutex;

use tool_mcp::McpServer;
use tool_runtime::{Dispatcher, confirm, tool, tool_class};

struct NoteService {
    notes: Mutex<Vec<String>>,
}

#[tool_class]
impl NoteService {
    // Clients read the flags as hints, and may run a read-only tool without asking.
    /// List all notes.
    #[tool(read_only)]
    pub fn list(&self) -> Vec<String> {
        self.notes.lock().expect("not poisoned").clone()
    }

    /// Add a note.
    pub fn add(&self, text: String) -> usize {
        let mut notes = self.notes.lock().expect("not poisoned");
        notes.push(text);
        notes.len()
    }

    /// Delete all notes.
    #[tool(destructive)]
    pub fn clear(&self) {
        self.notes.lock().expect("not poisoned").clear();
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = Dispatcher::builder()
        .service(NoteService { notes: Mutex::default() })
        // The server asks the client's user about `note.clear`, so the dispatcher has nobody to ask.
        .confirm(confirm::per_call())
        .build()?;
    // Standard output carries the protocol. Print and log to standard error only.
    McpServer::new(tools).name("notes").version("1.0.0").stdio().await?;
    Ok(())
}
