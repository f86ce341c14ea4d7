//! Results that do not serialize, converted to those that do: `#[tool(result = ..)]`.

use std::fmt::{Debug, Display};

/// A result that is shown as text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shown with `result = display`: it does not implement `Display`",
    label = "not `Display`",
    note = "implement `std::fmt::Display` for it, or use `result = debug` or the path of a function"
)]
pub trait DisplayedResult: Display {}

impl<T: ?Sized + Display> DisplayedResult for T {}

/// A result that is shown in its debug form.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shown with `result = debug`: it does not implement `Debug`",
    label = "not `Debug`",
    note = "derive `Debug` for it, or use `result = display` or the path of a function"
)]
pub trait DebuggedResult: Debug {}

impl<T: ?Sized + Debug> DebuggedResult for T {}

/// Formats a result with `Display`.
pub fn displayed<T: DisplayedResult>(value: T) -> String {
    value.to_string()
}

/// Formats a result with `Debug`.
pub fn debugged<T: DebuggedResult>(value: T) -> String {
    format!("{value:?}")
}

/// A function from `T` or `&T`. The marker tells the two apart.
#[diagnostic::on_unimplemented(
    message = "`result` needs a function from `{T}` or `&{T}` to an owned value that serializes",
    label = "not such a function",
    note = "for `Result`, `Option`, lists and streams, the function takes what they hold"
)]
pub trait ResultFunction<T, Marker> {
    /// The result of the function.
    type Output;

    #[doc(hidden)]
    fn apply(self, value: T) -> Self::Output;
}

/// The marker of a function that takes its argument by value.
pub struct ByValue<R>(R);

/// The marker of a function that takes its argument by reference.
pub struct ByReference<R>(R);

impl<T, R, F: FnOnce(T) -> R> ResultFunction<T, ByValue<R>> for F {
    type Output = R;

    fn apply(self, value: T) -> R {
        self(value)
    }
}

impl<T, R, F: FnOnce(&T) -> R> ResultFunction<T, ByReference<R>> for F {
    type Output = R;

    fn apply(self, value: T) -> R {
        self(&value)
    }
}

/// Converts a result with a function. The value comes first, so that its type decides whether the function fits.
pub fn applied<T, M, F: ResultFunction<T, M>>(value: T, function: F) -> F::Output {
    function.apply(value)
}
