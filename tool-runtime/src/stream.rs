//! Handlers that return a stream: each item is reported as progress, and together they are the result.

use std::error::Error;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::ops::ControlFlow::{self, Break, Continue};
use std::pin::pin;

use futures_core::Stream;
use serde::Serialize;

use crate::handler_failure::{BoxError, HandlerFailure, copied};
use crate::handler_result::{
    BorrowedReply, ChainedReply, ErrorReply, FallibleReply, HandlerReply, HandlerResult, PlainReply, ReplyValue,
    ResultValue, ToolFailure, ToolOutput, failed, text,
};
use crate::{ErrorKind, HandlerError, Progress, json};

/// An item of a stream whose result is not the list of its items.
///
/// A tool may return a stream, `impl Stream<Item = T>`. Each item is reported as [`Progress`] when it arrives. Without
/// this type, the result is that of a `Vec` of the items, which suits a search that finds one match after the other.
/// If the items only report progress, such as the lines of a log, make them `Progress`, and the result `Done`; nothing
/// is read after it. Items may be `Result`s: the first error ends the stream and becomes the result.
///
/// ```standalone_crate
/// use tool_runtime::output::{Stream, Streamed};
/// use tool_runtime::{Dispatcher, ToolCall, tool};
///
/// /// Follow a log for some lines.
/// #[tool(name = "log.follow")]
/// fn follow(lines: usize) -> impl Stream<Item = Streamed<String, String>> {
///     let followed = (1..=lines).map(|line| Streamed::Progress(format!("line {line}")));
///     let summary = Streamed::Done(format!("{lines} lines, no errors"));
///     tokio_stream::iter(followed.chain([summary]))
/// }
///
/// /// The even numbers up to a limit.
/// #[tool]
/// fn even(limit: u32) -> impl Stream<Item = u32> {
///     tokio_stream::iter((0..=limit).step_by(2))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().build()?;
/// let result = tools.call(ToolCall::from_text("log.follow", r#"{"lines": 3}"#)).await;
/// assert_eq!(result.output, "3 lines, no errors");
/// let result = tools.call(ToolCall::from_text("even", r#"{"limit": 6}"#)).await;
/// assert_eq!(result.output, "[0,2,4,6]");
/// # Ok(())
/// # }
/// ```
///
/// The macro recognises `impl Stream<Item = ..>` as the return type, in a `Result`, and as the output of an `async fn`.
/// Return any other stream, such as a boxed one, as `impl Stream`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Streamed<P, D> {
    /// A progress report. The model does not see it.
    Progress(P),
    /// The result.
    Done(D),
}

/// The items of a stream so far.
pub struct CollectedItems {
    items: String,
    progress: Progress,
}

impl CollectedItems {
    fn push(&mut self, item: &(impl ?Sized + Serialize)) -> ControlFlow<HandlerResult> {
        self.progress.report(item);
        self.items.push(if self.items.is_empty() { '[' } else { ',' });
        match json::write(&mut self.items, item) {
            Ok(()) => Continue(()),
            Err(error) => Break(Err(crate::handler_result::unwritable(&error))),
        }
    }

    fn finish(mut self) -> HandlerResult {
        if self.items.is_empty() {
            self.items.push('[');
        }
        self.items.push(']');
        Ok(self.items.into())
    }
}

/// A type that the stream of a tool may consist of.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an item of a tool's stream: it cannot be serialized as JSON",
    label = "returns a stream of `{Self}`",
    note = "derive `serde::Serialize` for it, or convert each item with `#[tool(result = display)]`; `tool_runtime::output::Streamed` tells progress from the result",
    note = "if the method is not a tool, name it in `exclude`, or mark it `#[tool(skip)]`"
)]
pub trait ToolItem {
    #[doc(hidden)]
    fn collect(&self, collected: &mut CollectedItems) -> ControlFlow<HandlerResult>;

    /// Returns the result at the end of the stream.
    #[doc(hidden)]
    fn end(collected: CollectedItems) -> HandlerResult;
}

impl<T: ?Sized + Serialize> ToolItem for T {
    fn collect(&self, collected: &mut CollectedItems) -> ControlFlow<HandlerResult> {
        collected.push(self)
    }

    fn end(collected: CollectedItems) -> HandlerResult {
        collected.finish()
    }
}

impl<P: ToolOutput, D: ToolOutput> ToolItem for Streamed<P, D> {
    fn collect(&self, collected: &mut CollectedItems) -> ControlFlow<HandlerResult> {
        match self {
            Self::Progress(progress) => {
                collected.progress.report(progress);
                Continue(())
            }
            Self::Done(result) => Break(text(result)),
        }
    }

    fn end(_: CollectedItems) -> HandlerResult {
        Err(HandlerFailure::new(ErrorKind::Failed, "the tool's stream ended without a result"))
    }
}

/// The outcome of reading one item.
pub struct ItemOutcome<T> {
    flow: ControlFlow<HandlerResult>,
    item: PhantomData<fn() -> T>,
}

impl<T: ToolItem> ItemOutcome<T> {
    fn new(item: Result<&T, Box<HandlerFailure>>, collected: &mut CollectedItems) -> Self {
        let flow = match item {
            Ok(item) => item.collect(collected),
            Err(failure) => Break(Err(failure)),
        };
        Self { flow, item: PhantomData }
    }
}

impl<T> HandlerReply<Result<T, HandlerError>> {
    /// Reads the item, or the failure that ends the stream.
    pub fn tool_collect(self, collected: &mut CollectedItems) -> ItemOutcome<T>
    where
        T: ToolItem,
    {
        match self.into_inner() {
            Ok(item) => ItemOutcome::new(Ok(&item), collected),
            Err(error) => ItemOutcome::new(Err(error.into_failure()), collected),
        }
    }
}

/// An item that is a `Result` whose error has a chain of causes.
pub trait ErrorItem: ErrorReply + Sized {
    /// Reads the item, or the failure that ends the stream.
    fn tool_collect(self, collected: &mut CollectedItems) -> ItemOutcome<Self::Value>
    where
        Self::Value: ToolItem + Sized;
}

impl<T, E: Into<BoxError>> ErrorItem for HandlerReply<Result<T, E>> {
    fn tool_collect(self, collected: &mut CollectedItems) -> ItemOutcome<T>
    where
        T: ToolItem,
    {
        match self.into_inner() {
            Ok(item) => ItemOutcome::new(Ok(&item), collected),
            Err(error) => ItemOutcome::new(Err(HandlerFailure::from_error(error.into())), collected),
        }
    }
}

/// An item that is a `Result` whose error borrows, or is not `Send`.
pub trait ChainedItem: ChainedReply {
    /// Reads the item, or the failure that ends the stream.
    fn tool_collect(&self, collected: &mut CollectedItems) -> ItemOutcome<Self::Value>
    where
        Self::Value: ToolItem + Sized;
}

impl<T, E: Error> ChainedItem for BorrowedReply<Result<T, E>> {
    fn tool_collect(&self, collected: &mut CollectedItems) -> ItemOutcome<T>
    where
        T: ToolItem,
    {
        match &self.0.0.0 {
            Ok(item) => ItemOutcome::new(Ok(item), collected),
            Err(error) => ItemOutcome::new(Err(HandlerFailure::from_error(copied(error))), collected),
        }
    }
}

/// An item that is a `Result` with any other error.
pub trait FallibleItem: FallibleReply {
    /// Reads the item, or the failure that ends the stream.
    fn tool_collect(&self, collected: &mut CollectedItems) -> ItemOutcome<Self::Value>
    where
        Self::Value: ToolItem + Sized,
        Self::Error: ToolFailure;
}

impl<T, E> FallibleItem for ResultValue<Result<T, E>> {
    fn tool_collect(&self, collected: &mut CollectedItems) -> ItemOutcome<T>
    where
        T: ToolItem,
        E: ToolFailure,
    {
        match &self.0.0 {
            Ok(item) => ItemOutcome::new(Ok(item), collected),
            Err(error) => ItemOutcome::new(Err(failed(error)), collected),
        }
    }
}

/// An item that is a plain value.
pub trait PlainItem: PlainReply {
    /// Reads the item.
    fn tool_collect(&self, collected: &mut CollectedItems) -> ItemOutcome<Self::Value>
    where
        Self::Value: ToolItem + Sized;
}

impl<T> PlainItem for ReplyValue<T> {
    fn tool_collect(&self, collected: &mut CollectedItems) -> ItemOutcome<T>
    where
        T: ToolItem,
    {
        ItemOutcome::new(Ok(&self.0), collected)
    }
}

/// Reads a stream to its end. The shim, which knows the type of the items, passes the function that reads one.
pub async fn stream<S, T, R>(stream: S, progress: Progress, read: R) -> HandlerResult
where
    S: Stream,
    T: ToolItem,
    R: Fn(S::Item, &mut CollectedItems) -> ItemOutcome<T>,
{
    let mut stream = pin!(stream);
    let mut collected = CollectedItems { items: String::new(), progress };
    while let Some(item) = poll_fn(|context| stream.as_mut().poll_next(context)).await {
        if let Break(answer) = read(item, &mut collected).flow {
            return answer;
        }
        // A stream that never waits must not prevent its call from being stopped.
        tokio::task::coop::consume_budget().await;
    }
    T::end(collected)
}
