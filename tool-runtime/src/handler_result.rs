//! The result of a handler, and its conversion into what the model reads.

use std::error::Error;
use std::fmt::Display;
use std::ops::Deref;

use serde::Serialize;
use serde::ser::{Impossible, Serializer};

use crate::handler_failure::{BoxError, ErrorDescriber, HandlerFailure, copied};
use crate::output::sanitize;
use crate::tool_result::{EXPIRES, TOKEN};
use crate::{ErrorKind, HandlerError, Metadata, ToolError, ToolResult, json};

/// The output of a handler, or the reason why there is none.
pub type HandlerResult = Result<HandlerOutput, Box<HandlerFailure>>;

/// The output of a handler that succeeded.
#[derive(Debug, Default, PartialEq)]
pub struct HandlerOutput {
    /// The text that the model reads.
    pub(crate) text: String,
    pub(crate) metadata: Metadata,
}

impl From<String> for HandlerOutput {
    #[inline]
    fn from(text: String) -> Self {
        Self { text, metadata: Metadata::default() }
    }
}

/// Converts the result of a handler into the result of its call.
#[inline]
pub(crate) fn into_tool_result(result: HandlerResult, tool: &str, describe: Option<&ErrorDescriber>) -> ToolResult {
    match result {
        Ok(HandlerOutput { text, metadata }) => ToolResult { metadata, ..ToolResult::success(text) },
        Err(mut failure) => match failure.result.take() {
            Some(result) => result,
            None => {
                let not_started = failure.not_started;
                ToolResult { not_started, ..ToolResult::failure(failure.into_tool_error(tool, describe)) }
            }
        },
    }
}

/// The message of a call that waits for approval in another program.
const PENDING_ELSEWHERE: &str = "The call waits for approval in another program and its result will not be returned here: it \
    may still take effect. Check its effect before you call it again.";

/// Converts a complete result that a handler returned. The text is sanitized, and a call that is pending in another
/// program becomes `OutcomeUnknown`.
pub(crate) fn from_tool_result(mut result: ToolResult) -> HandlerResult {
    if result.success {
        return Ok(HandlerOutput { text: sanitize(result.output), metadata: result.metadata });
    }
    if result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::Pending) {
        result = pending_elsewhere(result);
    }
    // The result may come from another dispatcher.
    result.not_started = false;
    result.output = sanitize(result.output);
    let error = result.error.get_or_insert_with(|| ToolError::new(ErrorKind::Failed, result.output.clone()));
    error.message = sanitize(std::mem::take(&mut error.message));
    let mut failure = HandlerFailure::new(error.kind, error.message.clone());
    failure.result = Some(result);
    Err(failure)
}

/// A pending result means that this dispatcher can resume the call by its token. The token of another program is of no
/// use here and must not reach the journal, so it is removed.
#[cold]
fn pending_elsewhere(pending: ToolResult) -> ToolResult {
    let mut result = ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, PENDING_ELSEWHERE));
    result.metadata = pending.metadata;
    for key in [TOKEN, EXPIRES] {
        result.metadata.remove(key);
    }
    result
}

/// A type that a handler may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool's result: it cannot be serialized as JSON",
    label = "returns a `{Self}`",
    note = "derive `serde::Serialize` for it, return a `String`, or convert it with `#[tool(result = display)]`",
    note = "if the method is not a tool, name it in `exclude`, or mark it `#[tool(skip)]`"
)]
pub trait ToolOutput: Serialize {}

impl<T: ?Sized + Serialize> ToolOutput for T {}

/// An error type that a handler may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool's error: the model reads it as text, and it does not implement `Display`",
    label = "fails with a `{Self}`",
    note = "implement `std::fmt::Display` for it, or use `#[tool(error = debug)]`",
    note = "if the method is not a tool, name it in `exclude`, or mark it `#[tool(skip)]`"
)]
pub trait ToolFailure: Display {}

impl<E: ?Sized + Display> ToolFailure for E {}

/// A value that a handler returned. Method resolution picks the conversion by type. It tries the layers from the outside to
/// the inside, and in each the inherent methods before those of a trait:
///
/// 1. `HandlerReply`: a [`ToolResult`], a [`HandlerError`], and errors that can be kept ([`ErrorReply`]);
/// 2. [`BorrowedReply`]: errors whose texts are copied, because they borrow or are not `Send` ([`ChainedReply`]). For a type
///    that borrows, the macro starts here, because method resolution does not see lifetimes;
/// 3. [`ResultValue`]: a `Result` with any other error ([`FallibleReply`]);
/// 4. [`ReplyValue`]: any other value ([`PlainReply`]).
///
/// The bounds are on the methods where possible, so that the compiler names a missing one.
pub struct HandlerReply<T>(pub BorrowedReply<T>);

/// The second layer of a [`HandlerReply`].
pub struct BorrowedReply<T>(pub ResultValue<T>);

/// The third layer of a [`HandlerReply`].
pub struct ResultValue<T>(pub ReplyValue<T>);

/// The innermost layer of a [`HandlerReply`].
pub struct ReplyValue<T>(pub T);

macro_rules! layers {
    ($($outer:ident($inner:ident))*) => {
        $(impl<T> Deref for $outer<T> {
            type Target = $inner<T>;

            #[inline]
            fn deref(&self) -> &$inner<T> {
                &self.0
            }
        })*
    };
}

layers! { HandlerReply(BorrowedReply) BorrowedReply(ResultValue) ResultValue(ReplyValue) }

impl<T> HandlerReply<T> {
    #[inline]
    pub(crate) fn into_inner(self) -> T {
        self.0.0.0.0
    }
}

impl HandlerReply<ToolResult> {
    /// Converts a complete result.
    pub fn tool_result(self) -> HandlerResult {
        from_tool_result(self.into_inner())
    }
}

impl<T> HandlerReply<Result<T, HandlerError>> {
    /// Converts a success, or a failure that says whether to retry.
    #[inline]
    pub fn tool_result(self) -> HandlerResult
    where
        T: ToolOutput,
    {
        match self.into_inner() {
            Ok(value) => text(&value),
            Err(error) => Err(error.into_failure()),
        }
    }
}

/// A handler that returns a `Result` whose error can be kept.
pub trait ErrorReply {
    /// The success type.
    type Value;

    /// Converts a success or a failure.
    fn tool_result(self) -> HandlerResult
    where
        Self::Value: ToolOutput;
}

impl<T, E: Into<BoxError>> ErrorReply for HandlerReply<Result<T, E>> {
    type Value = T;

    #[inline]
    fn tool_result(self) -> HandlerResult
    where
        T: ToolOutput,
    {
        match self.into_inner() {
            Ok(value) => text(&value),
            Err(error) => Err(HandlerFailure::from_error(error.into())),
        }
    }
}

/// A handler that returns a `Result` whose error borrows, or is not `Send`.
pub trait ChainedReply {
    /// The success type.
    type Value;

    /// Converts a success or a failure.
    fn tool_result(&self) -> HandlerResult
    where
        Self::Value: ToolOutput;
}

impl<T, E: Error> ChainedReply for BorrowedReply<Result<T, E>> {
    type Value = T;

    #[inline]
    fn tool_result(&self) -> HandlerResult
    where
        T: ToolOutput,
    {
        match &self.0.0.0 {
            Ok(value) => text(value),
            Err(error) => Err(HandlerFailure::from_error(copied(error))),
        }
    }
}

macro_rules! boxed_errors {
    ($($error:ty)*) => {
        $(impl<T> BorrowedReply<Result<T, $error>> {
            /// Converts a success, or a failure with a boxed error.
            #[inline]
            pub fn tool_result(&self) -> HandlerResult
            where
                T: ToolOutput,
            {
                match &self.0.0.0 {
                    Ok(value) => text(value),
                    Err(error) => Err(HandlerFailure::from_error(copied(&**error))),
                }
            }
        })*
    };
}

boxed_errors! { Box<dyn Error> Box<dyn Error + Send> }

/// A handler that returns a `Result` with any other error.
pub trait FallibleReply {
    /// The success type.
    type Value;
    /// The error type.
    type Error;

    /// Converts a success or a failure.
    fn tool_result(&self) -> HandlerResult
    where
        Self::Value: ToolOutput,
        Self::Error: ToolFailure;
}

impl<T, E> FallibleReply for ResultValue<Result<T, E>> {
    type Value = T;
    type Error = E;

    #[inline]
    fn tool_result(&self) -> HandlerResult
    where
        T: ToolOutput,
        E: ToolFailure,
    {
        match &self.0.0 {
            Ok(value) => text(value),
            Err(error) => Err(failed(error)),
        }
    }
}

/// A handler that returns a plain value, and so always succeeds.
pub trait PlainReply {
    /// The type of the value.
    type Value;

    /// Converts the value.
    fn tool_result(&self) -> HandlerResult
    where
        Self::Value: ToolOutput;
}

impl<T> PlainReply for ReplyValue<T> {
    type Value = T;

    #[inline]
    fn tool_result(&self) -> HandlerResult
    where
        T: ToolOutput,
    {
        text(&self.0)
    }
}

/// Returns the failure for an error that can only be displayed. Its alternate form, which may show causes, is logged.
#[cold]
pub(crate) fn failed(error: &impl Display) -> Box<HandlerFailure> {
    HandlerFailure::new(ErrorKind::Failed, error.to_string()).with_error(format!("{error:#}"))
}

/// Formats a value for the model: a string as it is, `()` as `ok`, anything else as compact JSON.
#[inline]
pub(crate) fn text<T: Serialize>(value: &T) -> HandlerResult {
    // A value of size zero only says that the tool ran. A `null` of a type with other values is information.
    match value.serialize(PlainTextSerializer { is_empty_type: size_of::<T>() == 0 }) {
        Ok(text) => Ok(text.into()),
        Err(NotPlainText) => {
            // JSON is not sanitized: it is data, and its control characters are escaped.
            let mut text = String::with_capacity(JSON_CAPACITY);
            match json::write(&mut text, value) {
                Ok(()) => Ok(text.into()),
                Err(error) => Err(unwritable(&error)),
            }
        }
    }
}

/// Enough for most results, so that writing them does not reallocate.
const JSON_CAPACITY: usize = 512;

#[cold]
pub(crate) fn unwritable(error: &serde_json::Error) -> Box<HandlerFailure> {
    HandlerFailure::new(ErrorKind::Failed, format!("the tool ran, but its result cannot be written as JSON: {error}"))
}

/// Serializes values whose JSON is also their plain text, and gives up at once on everything else.
struct PlainTextSerializer {
    is_empty_type: bool,
}

/// The error for a value that is not plain text.
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
        Ok(if self.is_empty_type { "ok" } else { "null" }.to_owned())
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

    fn reply<T>(value: T) -> HandlerReply<T> {
        HandlerReply(BorrowedReply(ResultValue(ReplyValue(value))))
    }

    #[test]
    fn formats_strings_as_they_are_unit_as_ok_and_the_rest_as_json() {
        assert_eq!(reply("a \"b\"").tool_result().unwrap().text, "a \"b\"");
        assert_eq!(reply(()).tool_result().unwrap().text, "ok");
        assert_eq!(reply(Some(String::from("x"))).tool_result().unwrap().text, "x");
        assert_eq!(reply(None::<String>).tool_result().unwrap().text, "null");
        assert_eq!(reply(serde_json::Value::Null).tool_result().unwrap().text, "null");
        assert_eq!(reply(vec![1, 2]).tool_result().unwrap().text, "[1,2]");
        assert_eq!(reply(Ok::<_, String>(7)).tool_result().unwrap().text, "7");
    }

    #[test]
    fn converts_every_error_into_a_failure() {
        let failure = reply(Err::<(), _>("boom")).tool_result().unwrap_err();
        assert_eq!((failure.kind, failure.message.as_str()), (ErrorKind::Failed, "boom"));
        let failure = reply(Err::<(), _>(HandlerError::retry("once more"))).tool_result().unwrap_err();
        assert_eq!((failure.kind, failure.message.as_str()), (ErrorKind::Retry, "once more"));
        let odd = std::collections::HashMap::from([((1, 2), 3)]);
        assert!(reply(odd).tool_result().unwrap_err().message.contains("cannot be written as JSON"));
    }

    /// This dispatcher cannot resume the call of another program, and must not keep its token.
    #[tokio::test]
    async fn a_call_that_is_pending_elsewhere_is_not_pending_here() {
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
        assert!(result.output.contains("approval in another program"), "{}", result.output);
        let said = ["token", "expires", "worker"].map(|key| result.metadata.get(key).is_some());
        assert_eq!(said, [false, false, true]);
        let entries = format!("{:?}", journal.entries(EntryQuery::newest(10)).await.unwrap());
        assert!(entries.contains("w7") && !entries.contains("hunter2"), "{entries}");
    }
}
