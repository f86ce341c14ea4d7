//! The tool `read_result`, with which a model reads the rest of a long output.

use super::spill::ReadArguments;
use super::text_slice::{TextPosition, TextSlice, TextUnit, line_count, slice};
use super::{Spill, SpillKey};
use crate::display::thousands;
use crate::{Context, tool, tool_class};

/// The registered name of the tool. A selection may rename it.
pub(crate) const READ_RESULT: &str = "read_result";

/// The service with the tool `read_result`. Its class is `manual`: [`Builder::spill`](crate::Builder::spill) adds it.
#[derive(Debug)]
pub(crate) struct ResultReader {
    spill: Spill,
}

impl ResultReader {
    pub(super) fn new(spill: Spill) -> Self {
        Self { spill }
    }

    /// Returns a part, followed by the call that reads the next one, under the name that the model knows.
    fn render(&self, reader: &str, handle: &str, limit: usize, part: &TextSlice<'_>) -> String {
        let Some(from) = part.next else { return part.text.to_owned() };
        let limit = match from.unit {
            TextUnit::Lines => limit,
            TextUnit::Bytes => self.spill.max_part(),
        };
        let line_end = if part.text.ends_with('\n') { "" } else { "\n" };
        format!("{}{line_end}… More: `{reader}` {} …", part.text, ReadArguments { handle, from, limit })
    }
}

#[tool_class(crate = crate, manual)]
impl ResultReader {
    /// Read a part of a long result, of which only the beginning and the end were shown.
    ///
    /// # Errors
    /// Fails with a message for the model if the result is gone or ends before the offset.
    #[tool(name = "read_result", read_only, idempotent, blocking)]
    fn read_result(
        &self,
        /// The handle from the shortened result.
        handle: &str,
        /// The number of lines or bytes to skip.
        #[arg(default = 0)]
        offset: usize,
        /// The maximum number of lines or bytes to read.
        #[arg(default = 200, min = 1)]
        limit: usize,
        /// The unit of `offset` and `limit`.
        #[arg(default = "lines", one_of = ["lines", "bytes"])]
        unit: &str,
        #[inject] context: &Context,
    ) -> Result<String, String> {
        let key = SpillKey { conversation: context.conversation(), handle };
        let text = match self.spill.get(key) {
            Ok(Some(text)) => text,
            Ok(None) => return Err(GONE.to_owned()),
            Err(error) => {
                // Details of the store are for the application's log, not for the model.
                tracing::warn!(%error, handle, "a stored output could not be read");
                return Err("The result cannot be read at the moment.".to_owned());
            }
        };
        let unit = if unit == TextUnit::Bytes.as_str() { TextUnit::Bytes } else { TextUnit::Lines };
        let Some(part) = slice(&text, TextPosition { unit, offset }, limit, self.spill.max_part()) else {
            let (lines, bytes) = (thousands(line_count(&text)), thousands(text.len()));
            return Err(format!("The result ends before that: it has {lines} lines, {bytes} bytes."));
        };
        Ok(self.render(context.called.as_deref().unwrap_or(READ_RESULT), handle, limit, &part))
    }
}

/// The message for unknown handles and for those of other conversations, which must not be distinguishable.
const GONE: &str = "There is no result of this handle in this conversation, or not any more. Call its tool again.";

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::journal::{EntryState, MemoryJournal};
    use crate::{Dispatcher, ErrorKind, NameCase, RuntimeTool, Selection, ToolCall, ToolResult};

    struct ReaderFixture {
        tools: Dispatcher,
        spill: Spill,
    }

    impl ReaderFixture {
        fn new() -> Self {
            let spill = Spill::over(1_000);
            Self { tools: Dispatcher::builder().service(spill.reader()).build().unwrap(), spill }
        }

        fn keep(&self, text: &str) -> String {
            let (_, spilled) = self.spill.shorten(Some("c"), text.to_owned());
            spilled.unwrap().handle.unwrap()
        }

        async fn read(&self, conversation: Option<&'static str>, arguments: Value) -> ToolResult {
            let call = ToolCall::new("read_result", arguments);
            let call = match conversation {
                Some(conversation) => call.conversation(conversation),
                None => call,
            };
            self.tools.call(call).await
        }
    }

    fn here() -> Option<&'static str> {
        Some("c")
    }

    #[tokio::test]
    async fn following_the_notices_reads_the_whole_output() {
        let reader = ReaderFixture::new();
        for text in ["é".repeat(3_000), "word\n".repeat(2_000), format!("{}\nshort\nlines\n", "x".repeat(5_000))] {
            let mut arguments = json!({"handle": reader.keep(&text)});
            let mut whole = String::new();
            loop {
                let result = reader.read(here(), arguments).await;
                assert!(result.success && result.output.len() <= 1_000, "{result:?}");
                let Some((part, more)) = result.output.split_once("… More: `read_result` ") else {
                    whole.push_str(&result.output);
                    break;
                };
                arguments = serde_json::from_str(more.strip_suffix(" …").unwrap()).unwrap();
                // The line end after a cut line only separates the notice.
                whole.push_str(if arguments.get("unit").is_some() { part.strip_suffix('\n').unwrap() } else { part });
            }
            assert_eq!(whole, text);
        }
    }

    #[tokio::test]
    async fn another_conversation_cannot_read_an_output() {
        let reader = ReaderFixture::new();
        let handle = reader.keep(&"text\n".repeat(1_000));
        for stranger in [Some("d"), None] {
            let refused = reader.read(stranger, json!({"handle": handle})).await;
            let unknown = reader.read(stranger, json!({"handle": "r0000000000000000"})).await;
            assert_eq!(refused, unknown);
            assert_eq!(refused.error.unwrap().kind, ErrorKind::Failed);
        }
        assert!(reader.read(here(), json!({"handle": handle})).await.success);
    }

    #[tokio::test]
    async fn an_offset_past_the_end_reports_the_length() {
        let reader = ReaderFixture::new();
        let handle = reader.keep(&"text\n".repeat(1_000));
        let result = reader.read(here(), json!({"handle": handle, "offset": 1_000})).await;
        assert_eq!(result.output, "The result ends before that: it has 1,000 lines, 5,000 bytes.");
        let last = reader.read(here(), json!({"handle": handle, "offset": 4_998, "unit": "bytes"})).await;
        assert_eq!(last.output, "t\n");
    }

    /// Reads all lines of a shortened output by following its notices.
    async fn follow(tools: &Dispatcher, reader: &str, shown: &str) -> usize {
        let (mut lines, mut said) = (0, shown.to_owned());
        while let Some((part, notice)) = said.split_once('…') {
            lines += part.lines().count();
            let (_, arguments) = notice.split_once(&format!("`{reader}` ")).unwrap();
            let (arguments, _) = arguments.split_once(" …").unwrap();
            let result = tools.call(ToolCall::from_text(reader, arguments).conversation("c")).await;
            assert!(result.success, "{result:?}");
            said = result.output;
        }
        lines + said.lines().count()
    }

    #[tokio::test]
    async fn notices_use_the_name_that_the_selection_gives_the_tool() {
        let log = RuntimeTool::new("log", "", |(): ()| async { "line\n".repeat(1_000) });
        let tools = Dispatcher::builder().tool(log).spill(Spill::over(1_000)).journal(MemoryJournal::new());
        let tools = tools.build().unwrap();
        let long = "r".repeat(tool_model::name::MAX_LENGTH);
        for (number, (selection, log, reader)) in [
            (Selection::new(), "log", "read_result"),
            (Selection::new().case(NameCase::Camel), "log", "readResult"),
            (Selection::new().prefix("x_"), "x_log", "x_read_result"),
            (Selection::new().rename("read_result", &long), "log", &*long),
        ]
        .into_iter()
        .enumerate()
        {
            let view = tools.select(selection).unwrap();
            let id = number.to_string();
            let shown = view.call(ToolCall::from_text(log, "{}").conversation("c").id(&id)).await.output;
            assert!(shown.len() <= 1_000, "{} bytes", shown.len());
            assert_eq!(follow(&view, reader, &shown).await, 1_000, "{shown}");
            let Ok(Some(EntryState::Finished(recalled))) = view.recall("c", &id).await else { panic!("it has run") };
            assert_eq!(follow(&view, reader, &recalled.result.output).await, 1_000);
        }
    }

    #[tokio::test]
    async fn notices_do_not_name_the_tool_if_it_is_not_offered() {
        let log = RuntimeTool::new("log", "", |(): ()| async { "line\n".repeat(1_000) });
        let tools = Dispatcher::builder().tool(log).spill(Spill::over(1_000)).build().unwrap();
        let without = tools.select(Selection::new().names(["log"])).unwrap();
        let call = || ToolCall::from_text("log", "{}").conversation("c");
        let shown = async |tools: &Dispatcher| {
            let result = tools.call(call()).await;
            assert_eq!(tools.whole_output(Some("c"), &result).unwrap().len(), 5_000, "programs can read it");
            result.output
        };
        assert!(shown(&tools).await.contains("read_result"), "the control");
        let said = shown(&without).await;
        assert!(said.contains("Ask for less if you need them") && !said.contains("read_result"), "{said}");
        tools.registry().disable("read_result").unwrap();
        assert!(!shown(&tools).await.contains("read_result"));
    }

    #[test]
    fn the_tool_is_offered_only_with_its_service() {
        assert!(crate::Manifest::linked().get("read_result").is_none());
        let definition = ReaderFixture::new().tools.definition("read_result").unwrap();
        let names: Vec<&str> = definition.arguments.keys().map(String::as_str).collect();
        assert_eq!(names, ["handle", "limit", "offset", "unit"]);
        assert!(definition.read_only);
    }
}
