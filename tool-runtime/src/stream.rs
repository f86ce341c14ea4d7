//! Handlers that give back a stream: each item is progress, and together they are the result.

use std::future::poll_fn;
use std::marker::PhantomData;
use std::ops::ControlFlow::{self, Break, Continue};
use std::pin::pin;

use futures_core::Stream;
use serde::Serialize;

use crate::handler_result::{
    FallibleReply, HandlerFailure, HandlerResult, PlainReply, Reply, ToolFailure, ToolOutput, failed, text,
};
use crate::{ErrorKind, HandlerError, Progress, json};

/// An item of a stream whose result is not simply all its items.
///
/// A tool may give back a stream, `impl Stream<Item = T>`. Each item is reported as [`Progress`] when it comes. The
/// result is, without this type, what a `Vec` of the items would be: right for a search that finds one thing after
/// the other. Where the items only say how far the tool is, such as the lines of a log that is followed, they are
/// `Progress`, and the one that is `Done` is the result; nothing is read after it. Items may be `Result`s: the first
/// error ends the stream and is the answer.
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
/// The stream is recognised where the signature says `impl Stream<Item = ..>`, on its own, in a `Result`, or as what
/// an `async fn` gives back; any other stream can be given back as one. A boxed one needs no change but that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Streamed<P, D> {
    /// How far it is. The model does not see it.
    Progress(P),
    /// The result.
    Done(D),
}

/// What a stream has given so far.
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

/// What a stream of a tool may consist of.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an item of a tool's stream: nothing says how to write it as JSON",
    label = "gives back a stream of `{Self}`",
    note = "derive `serde::Serialize` for it; `tool_runtime::output::Streamed` tells progress from the result",
    note = "if the method is no tool, name it in `exclude`, or mark it `#[tool(skip)]`"
)]
pub trait ToolItem {
    #[doc(hidden)]
    fn collect(&self, collected: &mut CollectedItems) -> ControlFlow<HandlerResult>;

    /// The answer when the stream is over.
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

/// One item, read.
pub struct Collecting<T> {
    flow: ControlFlow<HandlerResult>,
    item: PhantomData<fn() -> T>,
}

impl<T: ToolItem> Collecting<T> {
    fn of(item: Result<&T, Box<HandlerFailure>>, collected: &mut CollectedItems) -> Self {
        let flow = match item {
            Ok(item) => item.collect(collected),
            Err(failure) => Break(Err(failure)),
        };
        Self { flow, item: PhantomData }
    }
}

impl<T> Reply<Result<T, HandlerError>> {
    /// The item, or a failure that ends the stream.
    pub fn tool_collect(self, collected: &mut CollectedItems) -> Collecting<T>
    where
        T: ToolItem,
    {
        match self.0 {
            Ok(item) => Collecting::of(Ok(&item), collected),
            Err(error) => Collecting::of(Err(error.into_failure()), collected),
        }
    }
}

/// An item that is a `Result`.
pub trait FallibleItem: FallibleReply + Sized {
    /// The item, or a failure that ends the stream.
    fn tool_collect(self, collected: &mut CollectedItems) -> Collecting<Self::Value>
    where
        Self::Value: ToolItem,
        Self::Error: ToolFailure;
}

impl<T, E> FallibleItem for Reply<Result<T, E>> {
    fn tool_collect(self, collected: &mut CollectedItems) -> Collecting<T>
    where
        T: ToolItem,
        E: ToolFailure,
    {
        match self.0 {
            Ok(item) => Collecting::of(Ok(&item), collected),
            Err(error) => Collecting::of(Err(failed(&error)), collected),
        }
    }
}

/// An item that is itself.
pub trait PlainItem: PlainReply {
    /// The item.
    fn tool_collect(&self, collected: &mut CollectedItems) -> Collecting<Self::Value>
    where
        Self::Value: ToolItem + Sized;
}

impl<T> PlainItem for Reply<T> {
    fn tool_collect(&self, collected: &mut CollectedItems) -> Collecting<T>
    where
        T: ToolItem,
    {
        Collecting::of(Ok(&self.0), collected)
    }
}

/// Reads a stream to its end. How an item is read is for the shim to say, which knows its type.
pub async fn stream<S, T, R>(stream: S, progress: Progress, read: R) -> HandlerResult
where
    S: Stream,
    T: ToolItem,
    R: Fn(S::Item, &mut CollectedItems) -> Collecting<T>,
{
    let mut stream = pin!(stream);
    let mut collected = CollectedItems { items: String::new(), progress };
    while let Some(item) = poll_fn(|context| stream.as_mut().poll_next(context)).await {
        if let Break(answer) = read(item, &mut collected).flow {
            return answer;
        }
        // A stream that never waits must not keep its call from being stopped.
        tokio::task::coop::consume_budget().await;
    }
    T::end(collected)
}
