//! The tool with which a model reads the rest of a long result.

use super::slice::{Place, Slice, Unit, line_count, slice};
use super::spill::Request;
use super::{Spill, SpillKey};
use crate::display::thousands;
use crate::{Context, tool, tool_class};

/// The name under which the tool is registered. A selection may call it otherwise.
pub(crate) const READ_RESULT: &str = "read_result";

/// The built-in service with the tool `read_result`; see [`Spill::results`].
///
/// Its class is `manual`: the tool is offered only by a dispatcher that is given the service.
///
/// ```
/// use serde_json::json;
/// use tool_runtime::output::Spill;
/// use tool_runtime::{Dispatcher, ToolCall};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let spill = Spill::over(1_000);
/// let tools = Dispatcher::builder().service(spill.results()).build()?;
///
/// let log: String = (1..=500).map(|line| format!("line {line}\n")).collect();
/// let (_, spilled) = spill.shorten(Some("c-1"), log);
///
/// let arguments = json!({"handle": spilled.unwrap().handle, "offset": 400, "limit": 2});
/// let call = ToolCall::new("read_result", arguments).conversation("c-1");
/// let result = tools.call(call).await;
/// assert!(result.output.starts_with("line 401\nline 402\n"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ResultReader {
    spill: Spill,
}

impl ResultReader {
    pub(super) fn new(spill: Spill) -> Self {
        Self { spill }
    }

    /// Returns a part with the call that reads the next one, by the name that the model knows.
    fn shown(&self, reader: &str, handle: &str, limit: usize, part: &Slice<'_>) -> String {
        let Some(from) = part.next else { return part.text.to_owned() };
        let limit = match from.unit {
            Unit::Lines => limit,
            Unit::Bytes => self.spill.most(),
        };
        let line_end = if part.text.ends_with('\n') { "" } else { "\n" };
        format!("{}{line_end}… More: `{reader}` {} …", part.text, Request { handle, from, limit })
    }
}

#[tool_class(crate = crate, manual)]
impl ResultReader {
    /// Read a part of a long result, of which only the beginning and the end were shown.
    ///
    /// # Errors
    /// In words for the model: there is no such result any more, or it ends before the offset.
    #[tool(name = "read_result", read_only, idempotent, blocking)]
    pub fn read_result(
        &self,
        /// The handle that stands in the shortened result.
        handle: &str,
        /// How many lines, or bytes, to pass over.
        #[arg(default = 0)]
        offset: usize,
        /// How many lines, or bytes, to read at most.
        #[arg(default = 200, min = 1)]
        limit: usize,
        /// What `offset` and `limit` count.
        #[arg(default = "lines", one_of = ["lines", "bytes"])]
        unit: &str,
        #[inject] context: &Context,
    ) -> Result<String, String> {
        let key = SpillKey { conversation: context.conversation(), handle };
        let text = match self.spill.get(key) {
            Ok(Some(text)) => text,
            Ok(None) => return Err(GONE.to_owned()),
            Err(error) => {
                // What is wrong with a disk is for the application to know, not for the model.
                tracing::warn!(%error, handle, "a long result could not be read");
                return Err("The result cannot be read at the moment.".to_owned());
            }
        };
        let unit = if unit == Unit::Bytes.as_str() { Unit::Bytes } else { Unit::Lines };
        let Some(part) = slice(&text, Place { unit, offset }, limit, self.spill.most()) else {
            let (lines, bytes) = (thousands(line_count(&text)), thousands(text.len()));
            return Err(format!("The result ends before that: it has {lines} lines, {bytes} bytes."));
        };
        Ok(self.shown(context.called.as_deref().unwrap_or(READ_RESULT), handle, limit, &part))
    }
}

/// The same for a handle that never was and for one of another conversation: there is nothing to learn from it.
const GONE: &str = "There is no result of this handle in this conversation, or not any more. Call its tool again.";

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::journal::{EntryState, MemoryJournal};
    use crate::{Dispatcher, ErrorKind, NameCase, RuntimeTool, Selection, ToolCall, ToolResult};

    struct Reader {
        tools: Dispatcher,
        spill: Spill,
    }

    impl Reader {
        fn new() -> Self {
            let spill = Spill::over(1_000);
            Self { tools: Dispatcher::builder().service(spill.results()).build().unwrap(), spill }
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
    async fn the_calls_that_are_offered_read_everything() {
        let reader = Reader::new();
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
                // A line that was cut is ended only to set the notice apart.
                whole.push_str(if arguments.get("unit").is_some() { part.strip_suffix('\n').unwrap() } else { part });
            }
            assert_eq!(whole, text);
        }
    }

    #[tokio::test]
    async fn another_conversation_reads_nothing() {
        let reader = Reader::new();
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
    async fn behind_the_end_there_is_a_word_on_where_it_is() {
        let reader = Reader::new();
        let handle = reader.keep(&"text\n".repeat(1_000));
        let result = reader.read(here(), json!({"handle": handle, "offset": 1_000})).await;
        assert_eq!(result.output, "The result ends before that: it has 1,000 lines, 5,000 bytes.");
        let last = reader.read(here(), json!({"handle": handle, "offset": 4_998, "unit": "bytes"})).await;
        assert_eq!(last.output, "t\n");
    }

    /// Reads all lines of a shortened output, by what the notices in it say.
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
    async fn the_tool_is_named_as_the_selection_in_force_calls_it() {
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
    async fn a_tool_that_is_not_offered_is_not_named() {
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
        let definition = Reader::new().tools.definition("read_result").unwrap();
        let names: Vec<&str> = definition.arguments.keys().map(String::as_str).collect();
        assert_eq!(names, ["handle", "limit", "offset", "unit"]);
        assert!(definition.read_only);
    }
}
