//! What the handler of a tool made at run time may give back.

use std::any::Any;
use std::fmt::Display;

use serde::Serialize;
use serde_json::Value;

use crate::handler_result::{HandlerResult, failed, from_tool_result, text};
use crate::{HandlerError, ToolResult};

/// What a handler may give back: a `Result`, a [`ToolResult`], a text, a JSON value or nothing.
///
/// A success that is no text is written as JSON, an error as its text; a [`HandlerError`] says whether to try again. A
/// value of another type becomes an answer as `Ok::<_, String>(value)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the answer of a tool",
    note = "give back a `Result<T, E>` with a `T: Serialize` and an `E: Display`, a `ToolResult`, a `String`, a `serde_json::Value` or `()`"
)]
pub trait IntoToolResult {
    #[doc(hidden)]
    fn into_answer(self) -> HandlerResult;
}

impl<T: Serialize + 'static, E: Display + 'static> IntoToolResult for Result<T, E> {
    fn into_answer(self) -> HandlerResult {
        match self {
            Ok(value) => match known::<T, ToolResult>(value) {
                Ok(result) => from_tool_result(result),
                Err(value) => text(&value),
            },
            Err(error) => match known::<E, HandlerError>(error) {
                Ok(error) => Err(error.into_failure()),
                Err(error) => Err(failed(&error)),
            },
        }
    }
}

/// A value as what it is, if it is that.
fn known<T: 'static, K: 'static>(value: T) -> Result<K, T> {
    let mut place = Some(value);
    match (&mut place as &mut dyn Any).downcast_mut::<Option<K>>().and_then(Option::take) {
        Some(known) => Ok(known),
        None => Err(place.expect("taken only if it is known")),
    }
}

impl IntoToolResult for ToolResult {
    fn into_answer(self) -> HandlerResult {
        from_tool_result(self)
    }
}

macro_rules! plain {
    ($($ty:ty)*) => {
        $(impl IntoToolResult for $ty {
            fn into_answer(self) -> HandlerResult {
                text(&self)
            }
        })*
    };
}

plain! { () String &'static str Value }
