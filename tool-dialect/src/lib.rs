//! Tools in every model provider's form.
