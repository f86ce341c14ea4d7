//! The tools of this package and the dispatcher that calls them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tool_runtime::{BuildError, Dispatcher, confirm, tool, tool_class};

/// Returns the dispatcher with all tools. Share it: clones are cheap.
///
/// # Errors
/// Returns an error if a tool and the manifest of the build script do not match, or if a service is missing.
pub fn dispatcher() -> Result<Dispatcher, BuildError> {
    Dispatcher::builder()
        .manifest(tool_runtime::manifest!())
        .service(NoteService::default())
        // MCP clients ask their user for approval. Other calls that need one are refused.
        .confirm(confirm::per_call())
        .build()
}

/// Notes in memory, which end with the program. Replace them with a service of yours.
#[derive(Default)]
pub struct NoteService {
    notes: Mutex<Vec<String>>,
}

/// Public methods are tools. The model reads their documentation.
#[tool_class(prefix = "notes")]
impl NoteService {
    /// Write a note. Returns its number.
    pub fn add(
        &self,
        /// The text of the note.
        #[arg(min_length = 1)]
        text: String,
    ) -> usize {
        let mut notes = self.notes();
        notes.push(text);
        notes.len()
    }

    /// Read a note.
    #[tool(read_only)]
    pub fn read(
        &self,
        /// The number of the note.
        #[arg(min = 1)]
        number: usize,
    ) -> Result<String, String> {
        let notes = self.notes();
        let missing = || format!("there is no note {number}; the last one is {}", notes.len());
        notes.get(number - 1).cloned().ok_or_else(missing)
    }

    /// Delete all notes. Returns how many there were.
    // A destructive tool needs approval.
    #[tool(destructive)]
    pub fn clear(&self) -> usize {
        std::mem::take(&mut *self.notes()).len()
    }

    fn notes(&self) -> MutexGuard<'_, Vec<String>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tool_runtime::{ErrorKind, ToolCall};

    use super::*;

    /// If it fails, run `cargo tool-gen write` and commit the file: it shows reviewers what a model is offered.
    #[test]
    fn the_committed_manifest_is_up_to_date() {
        tool_runtime::assert_manifest!();
    }

    #[tokio::test]
    async fn a_note_can_be_read() {
        let tools = dispatcher().expect("the dispatcher builds");
        let added = tools.call(ToolCall::from_text("notes.add", r#"{"text": "buy milk"}"#)).await;
        assert!(added.success, "{}", added.output);
        let read = tools.call(ToolCall::from_text("notes.read", r#"{"number": 1}"#)).await;
        assert!(read.success, "{}", read.output);
        assert_eq!(read.output, "buy milk");
    }

    #[tokio::test]
    async fn the_model_reads_why_a_call_failed() {
        let tools = dispatcher().expect("the dispatcher builds");
        let missing = tools.call(ToolCall::from_text("notes.read", r#"{"number": 7}"#)).await;
        assert_eq!(missing.output, "there is no note 7; the last one is 0");
    }

    #[tokio::test]
    async fn nothing_is_deleted_without_approval() {
        let tools = dispatcher().expect("the dispatcher builds");
        let refused = tools.call(ToolCall::from_text("notes.clear", "{}")).await;
        assert_eq!(refused.error.map(|error| error.kind), Some(ErrorKind::Refused));
    }
}
