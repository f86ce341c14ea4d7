//! The tokens that are emitted next to the user's item.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::{Attribute, Path};

use crate::runtime_path::runtime_path;

/// Returns the registrations of one item and the constants they refer to, in an anonymous scope.
pub(crate) fn beside(
    krate: Option<&Path>,
    cfgs: &[Attribute],
    tools: &[TokenStream],
    shims: &TokenStream,
) -> TokenStream {
    if tools.is_empty() {
        return TokenStream::new();
    }
    let runtime = runtime_path(krate);
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(deprecated, non_snake_case, unused_imports, unused_mut)]
        const _: () = {
            use #runtime::private as __tool;
            use __tool::tiers::*;
            #shims
            // linkme parses its item, so the item is kept short.
            static __TOOLS: &'static [__tool::Registration] = &[#(#tools),*];
            #[__tool::linkme::distributed_slice(__tool::REGISTRATIONS)]
            #[linkme(crate = __tool::linkme)]
            static __LINKED: &'static [__tool::Registration] = __TOOLS;
        };
    }
}

/// Returns an item that could not be parsed unchanged, followed by the error.
pub(crate) fn unparsed(item: TokenStream, error: &syn::Error) -> TokenStream {
    let error = error.to_compile_error();
    quote!(#item #error)
}

/// Returns the error for an item that is not of the expected kind. A complete item of another kind gets the attribute's
/// own message; any other item gets syn's error.
pub(crate) fn misplaced(attribute: &str, place: &str, item: &TokenStream, error: syn::Error) -> syn::Error {
    match syn::parse2::<syn::Item>(item.clone()) {
        Ok(_) => syn::Error::new(error.span(), format!("`#[{attribute}]` goes on {place}")),
        Err(_) => error,
    }
}

/// Returns a string literal.
pub(crate) fn literal(text: &str) -> TokenTree {
    proc_macro2::Literal::string(text).into()
}
