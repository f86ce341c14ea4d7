//! What stands beside the user's item.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::{Attribute, Path};

use crate::runtime_path::runtime_path;

/// The registrations of one item, with the constants they refer to, in a scope of their own.
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
            // linkme parses what it is given; it is given little.
            static __TOOLS: &'static [__tool::Registration] = &[#(#tools),*];
            #[__tool::linkme::distributed_slice(__tool::REGISTRATIONS)]
            #[linkme(crate = __tool::linkme)]
            static __LINKED: &'static [__tool::Registration] = __TOOLS;
        };
    }
}

/// An item that is no function or no `impl` block stays as it is, so that the one message is ours.
pub(crate) fn unparsed(item: TokenStream, error: &syn::Error) -> TokenStream {
    let error = error.to_compile_error();
    quote!(#item #error)
}

/// Says where an attribute goes when it stands on something else, or what is wrong with what it stands on.
pub(crate) fn misplaced(attribute: &str, place: &str, error: syn::Error) -> syn::Error {
    let message = error.to_string();
    if message.starts_with("expected `fn`")
        || message.starts_with("expected `impl`")
        || message.starts_with("expected one of")
    {
        return syn::Error::new(error.span(), format!("`#[{attribute}]` goes on {place}"));
    }
    error
}

/// Text as a literal.
pub(crate) fn literal(text: &str) -> TokenTree {
    proc_macro2::Literal::string(text).into()
}
