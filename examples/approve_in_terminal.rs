//! A call that needs approval is shown on the terminal, and runs if the user types `y`. With `a` the program ends.
//!
//! ```sh
//! cargo run -p examples --example approve_in_terminal
//! ```

use std::process::ExitCode;
use std::sync::Mutex;

use serde_json::json;
use tool_runtime::confirm::Terminal;
use tool_runtime::{Dispatcher, Effect, ErrorKind, ToolCall, tool, tool_class};

struct NoteService {
    notes: Mutex<Vec<String>>,
}

#[tool_class]
impl NoteService {
    /// List all notes.
    #[tool(read_only)]
    pub fn list(&self) -> Vec<String> {
        self.notes.lock().expect("not poisoned").clone()
    }

    // `destructive` asks for approval; `sensitive` does so for a tool that deletes nothing, such as a payment.
    /// Delete all notes that contain a word.
    #[tool(destructive, preview = "would_delete")]
    pub fn delete(&self, word: &str) -> String {
        let mut notes = self.notes.lock().expect("not poisoned");
        let before = notes.len();
        notes.retain(|note| !note.contains(word));
        format!("{} notes deleted", before - notes.len())
    }

    // A preview takes the same arguments and has no effect. The user reads it before deciding.
    fn would_delete(&self, word: &str) -> Effect {
        let notes = self.list().into_iter().filter(|note| note.contains(word)).collect::<Vec<_>>();
        Effect::Text(format!("deletes {}", notes.join(", ")))
    }
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let notes = ["buy milk", "buy bread", "call Ben"].map(str::to_owned).into();
    let tools = Dispatcher::builder()
        .service(NoteService { notes: Mutex::new(notes) })
        // Asks through standard error and standard input. Without a terminal every question is refused.
        .confirm(Terminal::default())
        .build()?;

    let result = tools.call(ToolCall::new("note.delete", json!({"word": "buy"}))).await;
    // If the user refuses, the model reads that, with the reason: `n keep the milk`.
    println!("{}", result.output);
    // The user aborts with `a`: no further call may run. 130 is the exit code of an interrupted program.
    if result.error.is_some_and(|error| error.kind == ErrorKind::Aborted) {
        return Ok(ExitCode::from(130));
    }
    println!("{}", tools.call(ToolCall::new("note.list", json!({}))).await.output);
    Ok(ExitCode::SUCCESS)
}
