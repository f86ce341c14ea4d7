//! The shim of a preview: the tool's arguments, another function.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use tool_syntax::{ParsedClass, ParsedTool, Preview, Receiver};

use crate::shim::{Callee, call_site, decode, injected, needs, want};

/// Returns the shim of a preview, as an expression for the registration.
pub(crate) fn shim(tool: &ParsedTool, preview: &Preview, class: Option<&ParsedClass>) -> TokenStream {
    let invoke = invoke_name(tool);
    let (parameters, receiver) = match preview {
        Preview::Method(method) => (&method.parameters, method.receiver),
        Preview::Function(_) => (&tool.parameters, Receiver::None),
    };
    let wants: Vec<TokenStream> = injected(parameters).map(want).collect();
    let needs = needs(&wants, receiver, class);
    quote!(&__tool::Shim { invoke: #invoke, needs: #needs })
}

fn invoke_name(tool: &ParsedTool) -> Ident {
    format_ident!("__preview_{}", syn::ext::IdentExt::unraw(&tool.function))
}

/// Returns the function that the shim of a preview invokes.
pub(crate) fn invoke(tool: &ParsedTool, preview: &Preview) -> TokenStream {
    let shim = invoke_name(tool);
    let takes = TokenStream::new();
    let (callee, is_async) = match preview {
        Preview::Method(method) => {
            let name = &method.function;
            let span = call_site(name.span());
            let path = quote_spanned!(span=> <__Class>::#name);
            let (receiver, parameters) = (method.receiver, method.parameters.as_slice());
            (Callee { shim, path, span, receiver, parameters, takes, output: None }, Some(method.is_async))
        }
        Preview::Function(path) => {
            let (span, path) = (call_site(path.span()), quote!(#path));
            let (receiver, parameters) = (Receiver::None, tool.parameters.as_slice());
            (Callee { shim, path, span, receiver, parameters, takes, output: None }, None)
        }
    };
    let span = callee.span;
    // The preview of a blocking tool blocks too.
    let is_blocking = tool.blocking && is_async != Some(true);
    decode(tool, &callee, is_blocking || is_async != Some(false), |call| match is_async {
        _ if is_blocking => {
            quote_spanned!(span=> __tool::HandlerStep::blocking(move || __tool::Previewed::into_result(#call)))
        }
        Some(false) => quote_spanned!(span=> __tool::HandlerStep::Done(__tool::Previewed::into_result(#call))),
        Some(true) => {
            quote_spanned!(span=> __tool::HandlerStep::future(async move { __tool::Previewed::into_result(#call.await) }))
        }
        // The function's signature is not visible here, so its type decides whether it is `async`.
        None => {
            quote_spanned!(span=> __tool::HandlerStep::future(async move { __tool::PreviewReply(#call).tool_result().await }))
        }
    })
}
