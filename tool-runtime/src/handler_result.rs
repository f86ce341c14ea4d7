//! From what a handler gives back to what the model reads.

use std::fmt::Display;
use std::time::Duration;

use serde::Serialize;
use serde::ser::{Impossible, Serializer};

use crate::output::sanitize;
use crate::tool_result::{EXPIRES, TOKEN};
use crate::{ErrorKind, HandlerError, Metadata, ToolError, ToolResult, json};

/// A success, or what went wrong.
pub type HandlerResult = Result<HandlerOutput, Box<HandlerFailure>>;

/// A success.
#[derive(Debug, Default, PartialEq)]
pub struct HandlerOutput {
    /// What the model reads.
    pub(crate) text: String,
    /// What the handler says besides.
    pub(crate) metadata: Metadata,
}

impl From<String> for HandlerOutput {
    #[inline]
    fn from(text: String) -> Self {
        Self { text, metadata: Metadata::default() }
    }
}

/// What went wrong, before it is put into words for the model.
#[derive(Debug)]
pub struct HandlerFailure {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    /// When another try may go well, if the handler knows.
    pub(crate) retry_after: Option<Duration>,
    /// The whole result, where the handler has put it into words itself.
    pub(crate) result: Option<ToolResult>,
}

impl HandlerFailure {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { kind, message: message.into(), retry_after: None, result: None })
    }
}

/// What is said of a call that waits for consent where we cannot give it.
const WAITS_ELSEWHERE: &str = "The call waits for somebody's consent elsewhere, and its result does not come here: it may \
    still take effect. Look before you call it again.";

/// What a handler gives back as a whole is answered as it is, but for what cannot be shown, and for a question that was
/// asked elsewhere.
pub(crate) fn whole(mut result: ToolResult) -> HandlerResult {
    if result.success {
        return Ok(HandlerOutput { text: sanitize(result.output), metadata: result.metadata });
    }
    if result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::Pending) {
        result = waits_elsewhere(result);
    }
    // A handler may pass on the result of another dispatcher.
    result.not_started = false;
    result.output = sanitize(result.output);
    let error = result.error.get_or_insert_with(|| ToolError::new(ErrorKind::Failed, result.output.clone()));
    error.message = sanitize(std::mem::take(&mut error.message));
    let mut failure = HandlerFailure::new(error.kind, error.message.clone());
    failure.result = Some(result);
    Err(failure)
}

/// A call that is pending is one that whoever reads this can have run, by its token. That is so of ours only: another
/// program's token is of no use here, and is not for our records.
#[cold]
fn waits_elsewhere(pending: ToolResult) -> ToolResult {
    let mut result = ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, WAITS_ELSEWHERE));
    result.metadata = pending.metadata;
    for key in [TOKEN, EXPIRES] {
        result.metadata.remove(key);
    }
    result
}

/// What a handler may give back.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool's result: nothing says how to write it as JSON",
    label = "gives back a `{Self}`",
    note = "derive `serde::Serialize` for it, or give back a `String`",
    note = "if the method is no tool, name it in `exclude`, or mark it `#[tool(skip)]`"
)]
pub trait ToolOutput: Serialize {}

impl<T: ?Sized + Serialize> ToolOutput for T {}

/// What a handler may fail with.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool's error: the model reads it as text, and it has none",
    label = "fails with a `{Self}`",
    note = "implement `std::fmt::Display` for it"
)]
pub trait ToolFailure: Display {}

impl<E: ?Sized + Display> ToolFailure for E {}

/// What a handler gave back, told apart by type, not by name: the inherent method goes before that of a trait, and a
/// method that takes the reply before one that borrows it. The bounds stand on the methods, so that a missing one is
/// named.
pub struct Reply<T>(pub T);

impl Reply<ToolResult> {
    /// The handler's own result, with all it says.
    pub fn tool_answer(self) -> HandlerResult {
        whole(self.0)
    }
}

impl<T> Reply<Result<T, HandlerError>> {
    /// The handler's own success, or a failure that says whether to try again.
    #[inline]
    pub fn tool_answer(self) -> HandlerResult
    where
        T: ToolOutput,
    {
        match self.0 {
            Ok(value) => text(&value),
            Err(error) => Err(error.into_failure()),
        }
    }
}

/// A handler that gives back a `Result`.
pub trait FallibleReply {
    /// The success.
    type Value;
    /// The failure.
    type Error;

    /// The handler's own success or failure.
    fn tool_answer(self) -> HandlerResult
    where
        Self::Value: ToolOutput,
        Self::Error: ToolFailure;
}

impl<T, E> FallibleReply for Reply<Result<T, E>> {
    type Value = T;
    type Error = E;

    #[inline]
    fn tool_answer(self) -> HandlerResult
    where
        T: ToolOutput,
        E: ToolFailure,
    {
        match self.0 {
            Ok(value) => text(&value),
            Err(error) => Err(failed(&error)),
        }
    }
}

/// A handler that gives back a plain value always succeeds.
pub trait PlainReply {
    /// The value.
    type Value;

    /// The value as the model reads it.
    fn tool_answer(&self) -> HandlerResult
    where
        Self::Value: ToolOutput;
}

impl<T> PlainReply for Reply<T> {
    type Value = T;

    #[inline]
    fn tool_answer(&self) -> HandlerResult
    where
        T: ToolOutput,
    {
        text(&self.0)
    }
}

/// An error in the alternate form: those that carry a chain of causes show all of it.
pub(crate) fn failed(error: &impl Display) -> Box<HandlerFailure> {
    HandlerFailure::new(ErrorKind::Failed, format!("{error:#}"))
}

/// A string as it is, `()` as `ok`, anything else as compact JSON.
#[inline]
pub(crate) fn text<T: Serialize>(value: &T) -> HandlerResult {
    // A value without content says nothing but that the tool ran; a `null` that could have been something is an answer.
    match value.serialize(PlainTextSerializer { says_nothing: size_of::<T>() == 0 }) {
        Ok(text) => Ok(text.into()),
        Err(NotPlainText) => {
            // Nothing is cleaned out of it: it is data, and control characters are escaped in it.
            let mut text = String::with_capacity(JSON_CAPACITY);
            match json::write(&mut text, value) {
                Ok(()) => Ok(text.into()),
                Err(error) => Err(unwritable(&error)),
            }
        }
    }
}

/// Room for most results, so that they are written without growing.
const JSON_CAPACITY: usize = 512;

#[cold]
pub(crate) fn unwritable(error: &serde_json::Error) -> Box<HandlerFailure> {
    HandlerFailure::new(ErrorKind::Failed, format!("the tool ran, but its result cannot be written as JSON: {error}"))
}

/// Takes what is plain text, in JSON too, and gives up at once on everything else.
struct PlainTextSerializer {
    says_nothing: bool,
}

/// The value is not plain text.
#[derive(Debug)]
struct NotPlainText;

impl Display for NotPlainText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not plain text")
    }
}

impl std::error::Error for NotPlainText {}

impl serde::ser::Error for NotPlainText {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

macro_rules! not_plain {
    ($($method:ident($($ty:ty),*) -> $output:ty;)*) => {
        $(#[inline]
        fn $method(self, $(_: $ty),*) -> Result<$output, NotPlainText> {
            Err(NotPlainText)
        })*
    };
}

macro_rules! integers {
    ($($method:ident($ty:ty))*) => {
        $(#[inline]
        fn $method(self, value: $ty) -> Result<String, NotPlainText> {
            Ok(itoa::Buffer::new().format(value).to_owned())
        })*
    };
}

impl Serializer for PlainTextSerializer {
    type Ok = String;
    type Error = NotPlainText;
    type SerializeSeq = Impossible<String, NotPlainText>;
    type SerializeTuple = Impossible<String, NotPlainText>;
    type SerializeTupleStruct = Impossible<String, NotPlainText>;
    type SerializeTupleVariant = Impossible<String, NotPlainText>;
    type SerializeMap = Impossible<String, NotPlainText>;
    type SerializeStruct = Impossible<String, NotPlainText>;
    type SerializeStructVariant = Impossible<String, NotPlainText>;

    #[inline]
    fn serialize_str(self, text: &str) -> Result<String, NotPlainText> {
        Ok(sanitize(text.to_owned()))
    }

    #[inline]
    fn serialize_char(self, value: char) -> Result<String, NotPlainText> {
        Ok(value.to_string())
    }

    #[inline]
    fn serialize_unit(self) -> Result<String, NotPlainText> {
        Ok(if self.says_nothing { "ok" } else { "null" }.to_owned())
    }

    #[inline]
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<String, NotPlainText> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<String, NotPlainText> {
        Ok(if value { "true" } else { "false" }.to_owned())
    }

    integers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
    }

    not_plain! {
        serialize_f32(f32) -> String;
        serialize_f64(f64) -> String;
        serialize_bytes(&[u8]) -> String;
        serialize_none() -> String;
        serialize_unit_struct(&'static str) -> String;
        serialize_unit_variant(&'static str, u32, &'static str) -> String;
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }

    #[inline]
    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, _: &T) -> Result<String, NotPlainText> {
        Err(NotPlainText)
    }

    #[inline]
    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<String, NotPlainText> {
        Err(NotPlainText)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::journal::{EntryQuery, Journal, MemoryJournal};
    use crate::{Dispatcher, RuntimeTool, ToolCall};

    #[test]
    fn a_string_as_it_is_unit_as_ok_the_rest_as_json() {
        assert_eq!(Reply("a \"b\"").tool_answer().unwrap().text, "a \"b\"");
        assert_eq!(Reply(()).tool_answer().unwrap().text, "ok");
        assert_eq!(Reply(Some(String::from("x"))).tool_answer().unwrap().text, "x");
        assert_eq!(Reply(None::<String>).tool_answer().unwrap().text, "null");
        assert_eq!(Reply(serde_json::Value::Null).tool_answer().unwrap().text, "null");
        assert_eq!(Reply(vec![1, 2]).tool_answer().unwrap().text, "[1,2]");
        assert_eq!(Reply(Ok::<_, String>(7)).tool_answer().unwrap().text, "7");
    }

    #[test]
    fn an_error_is_a_failure_whatever_else_it_is() {
        let failure = Reply(Err::<(), _>("boom")).tool_answer().unwrap_err();
        assert_eq!((failure.kind, failure.message.as_str()), (ErrorKind::Failed, "boom"));
        let failure = Reply(Err::<(), _>(HandlerError::retry("once more"))).tool_answer().unwrap_err();
        assert_eq!((failure.kind, failure.message.as_str()), (ErrorKind::Retry, "once more"));
        let odd = std::collections::HashMap::from([((1, 2), 3)]);
        assert!(Reply(odd).tool_answer().unwrap_err().message.contains("cannot be written as JSON"));
    }

    /// A worker's question is not ours to answer, and its token not ours to keep.
    #[tokio::test]
    async fn consent_that_is_awaited_elsewhere_is_not_awaited_here() {
        let asks = |(): ()| async {
            let mut pending = ToolResult::failure(ToolError::new(ErrorKind::Pending, "`t` waits"));
            for (key, value) in [("token", "hunter2"), ("expires", "1"), ("worker", "w7")] {
                pending.metadata.insert(key, value);
            }
            pending
        };
        let journal = Arc::new(MemoryJournal::new());
        let tools =
            Dispatcher::builder().tool(RuntimeTool::new("t", "", asks)).journal(journal.clone()).build().unwrap();
        let result = tools.call(ToolCall::from_text("t", "{}")).await;
        assert_eq!(result.error.as_ref().unwrap().kind, ErrorKind::OutcomeUnknown);
        assert!(result.output.contains("consent elsewhere"), "{}", result.output);
        let said = ["token", "expires", "worker"].map(|key| result.metadata.get(key).is_some());
        assert_eq!(said, [false, false, true]);
        let entries = format!("{:?}", journal.entries(EntryQuery::newest(10)).await.unwrap());
        assert!(entries.contains("w7") && !entries.contains("hunter2"), "{entries}");
    }
}
