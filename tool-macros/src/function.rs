//! `#[tool]` on a function.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemFn;
use tool_syntax::read_function;

use crate::{emit, registration, shim, strip};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    if attribute.to_string() == tool_syntax::marker() {
        return item;
    }
    let mut function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => return emit::unparsed(item, &emit::misplaced("tool", "a function", error)),
    };
    let (tool, report) = read_function(attribute, &function);
    strip::function(&mut function.sig);
    let beside = match (tool, report.into_result()) {
        (Some(tool), Ok(())) => {
            let name = &tool.function;
            let shim = shim::invoke(&tool, &quote!(#name));
            let registration = registration::of(&tool, None);
            emit::beside(tool.krate.as_ref(), &tool.cfgs, &[registration], &shim)
        }
        (_, Err(errors)) => errors.into_compile_error(),
        (None, Ok(())) => TokenStream::new(),
    };
    quote!(#function #beside)
}
