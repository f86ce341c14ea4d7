//! Handlers that return a stream, and handlers that report progress.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tool_runtime::output::{Stream, Streamed};
use tool_runtime::{HandlerError, Progress, tool, tool_class};

/// An item with a schema.
#[derive(Serialize, JsonSchema)]
pub struct Found {
    pub place: u8,
}

/// Numbers one after the other.
#[tool(name = "streams.numbers")]
pub fn numbers(until: u8) -> impl Stream<Item = u8> {
    tokio_stream::iter(0..until)
}

/// Objects, once the stream is open.
#[tool(name = "streams.opened")]
pub async fn opened(count: u8) -> impl Stream<Item = Found> + Send {
    tokio_stream::iter((0..count).map(|place| Found { place }))
}

/// As above, written out.
#[tool(name = "streams.written_out")]
pub fn written_out(count: u8) -> impl Future<Output = impl Stream<Item = Found>> {
    opened(count)
}

/// Texts that are borrowed from the argument.
#[tool(name = "streams.words")]
pub fn words(text: &str) -> impl Stream<Item = &str> {
    tokio_stream::iter(text.split_whitespace())
}

/// Items that can fail.
#[tool(name = "streams.failing")]
pub fn failing(fail_at: Option<u8>) -> impl Stream<Item = Result<u8, String>> {
    tokio_stream::iter((0..3).map(move |item| if Some(item) == fail_at { Err(format!("no {item}")) } else { Ok(item) }))
}

/// Items that can ask for another call.
#[tool(name = "streams.hinting")]
pub fn hinting(hint: bool) -> impl Stream<Item = Result<Streamed<u8, &'static str>, HandlerError>> {
    let last = if hint { Err(HandlerError::retry("without `hint`")) } else { Ok(Streamed::Done("done")) };
    tokio_stream::iter([Ok(Streamed::Progress(1)), last])
}

/// A stream that cannot always be opened.
#[tool(name = "streams.refusing")]
pub async fn refusing(open: bool) -> Result<impl Stream<Item = u8>, HandlerError> {
    if open { Ok(tokio_stream::iter([1, 2])) } else { Err(HandlerError::fatal("it is closed")) }
}

/// Lines of a log, and a summary; what comes after it is not read.
#[tool(name = "streams.followed")]
pub fn followed(lines: u8) -> impl Stream<Item = Streamed<String, Found>> {
    let progress = (0..lines).map(|line| Streamed::Progress(format!("line {line}")));
    let done = [Streamed::Done(Found { place: lines }), Streamed::Progress("too late".to_owned())];
    tokio_stream::iter(progress.chain(done))
}

/// A stream that forgets its result.
#[tool(name = "streams.unfinished")]
pub fn unfinished() -> impl Stream<Item = Streamed<u8, u8>> {
    tokio_stream::iter([Streamed::Progress(1)])
}

/// Reports by hand.
#[tool(name = "streams.reported")]
pub fn reported(steps: u8, #[inject] progress: &Progress) -> u8 {
    for step in 0..steps {
        progress.report(json!({"step": step}));
    }
    steps
}

/// A service of streams.
pub struct TailService;

#[tool_class(prefix = "streams.tail", per_call)]
impl TailService {
    pub fn new() -> Self {
        Self
    }

    /// A stream that borrows from its instance, and reports besides.
    pub fn borrowing(&self, #[inject] progress: Progress) -> impl Stream<Item = &'static str> {
        progress.report("first");
        tokio_stream::iter(["a", "b"])
    }
}
