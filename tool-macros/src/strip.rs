//! Removal of helper attributes, which rustc does not know.

use proc_macro2::TokenStream;
use syn::{Attribute, FnArg, Meta, Signature};
use tool_syntax::{hides_tool, is_helper, is_tool, marker};

/// Removes the helper attributes from a function's parameters.
pub(crate) fn function(signature: &mut Signature) {
    for input in &mut signature.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.retain(|attribute| !is_helper(attribute));
        }
    }
}

/// Like [`function`], and replaces the contents of `#[tool(..)]` by the marker. Removing the attribute would leave its
/// import unused.
pub(crate) fn method(attributes: &mut Vec<Attribute>, signature: &mut Signature) {
    function(signature);
    // Already reported. Left in place, it would expand to a second error.
    attributes.retain(|attribute| !hides_tool(attribute));
    for attribute in attributes.iter_mut().filter(|attribute| is_tool(attribute)) {
        let path = attribute.path().clone();
        let read: TokenStream = marker().parse().unwrap_or_default();
        attribute.meta = Meta::List(syn::MetaList {
            path,
            delimiter: syn::MacroDelimiter::Paren(syn::token::Paren::default()),
            tokens: read,
        });
    }
}
