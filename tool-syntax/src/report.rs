//! All errors of an item, so that they are shown together.

use std::fmt::Display;

use quote::ToTokens;

/// Collects errors with their places. It must be turned [into a result](Report::into_result) at the end.
#[derive(Default)]
#[must_use = "errors that are not read are lost"]
pub struct Report {
    errors: Option<syn::Error>,
}

impl Report {
    /// Adds an error at the tokens that caused it.
    pub(crate) fn at(&mut self, place: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(place, message));
    }

    /// Adds an error that already knows its place.
    pub(crate) fn push(&mut self, error: impl Into<syn::Error>) {
        let error = error.into();
        match &mut self.errors {
            Some(errors) => errors.combine(error),
            None => self.errors = Some(error),
        }
    }

    /// Keeps the value of a result, or its error.
    pub(crate) fn keep<T>(&mut self, result: Result<T, impl Into<syn::Error>>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// All errors in one, or nothing.
    ///
    /// # Errors
    /// When anything was reported.
    pub fn into_result(self) -> syn::Result<()> {
        self.errors.map_or(Ok(()), Err)
    }
}
