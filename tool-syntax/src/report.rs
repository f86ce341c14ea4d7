//! Collection of all errors of an item.

use std::fmt::Display;

use quote::ToTokens;

/// A collector of errors with spans, converted with [`into_result`](Report::into_result) at the end.
#[derive(Default)]
#[must_use = "unread errors are lost"]
pub struct Report {
    errors: Option<syn::Error>,
}

impl Report {
    /// Adds an error at the span of the given tokens.
    pub(crate) fn at(&mut self, place: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(place, message));
    }

    /// Adds an error that has a span.
    pub(crate) fn push(&mut self, error: impl Into<syn::Error>) {
        let error = error.into();
        match &mut self.errors {
            Some(errors) => errors.combine(error),
            None => self.errors = Some(error),
        }
    }

    /// Returns the value of a result, or records its error.
    pub(crate) fn keep<T>(&mut self, result: Result<T, impl Into<syn::Error>>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Returns `true` if any error was recorded.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors.is_some()
    }

    /// Returns all errors combined.
    ///
    /// # Errors
    /// If any error was recorded.
    pub fn into_result(self) -> syn::Result<()> {
        self.errors.map_or(Ok(()), Err)
    }
}
