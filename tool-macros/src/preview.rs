//! The shim of a preview: the tool's arguments, another function.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use tool_syntax::{ParsedClass, ParsedTool, Preview, Receiver};

use crate::shim::{Callee, call_site, decode, method_path, needs};

/// Returns the shim of a preview, as an expression for the registration.
pub(crate) fn shim(tool: &ParsedTool, preview: &Preview, class: Option<&ParsedClass>) -> TokenStream {
    let invoke = invoke_name(tool);
    let (parameters, receiver) = match preview {
        Preview::Method(method) => (&method.parameters, method.receiver),
        Preview::Function(_) => (&tool.parameters, Receiver::None),
    };
    let needs = needs(parameters, receiver, None, class);
    quote!(&__tool::Shim { invoke: #invoke, needs: #needs })
}

fn invoke_name(tool: &ParsedTool) -> Ident {
    format_ident!("__preview_{}", syn::ext::IdentExt::unraw(&tool.function))
}

/// Returns the function that the shim of a preview invokes.
pub(crate) fn invoke(tool: &ParsedTool, preview: &Preview, class: Option<&ParsedClass>) -> TokenStream {
    let shim = invoke_name(tool);
    let takes = TokenStream::new();
    let (callee, is_async) = match preview {
        Preview::Method(method) => {
            let span = call_site(method.function.span());
            let path = method_path(class, &method.function, span);
            let (receiver, parameters) = (method.receiver, method.parameters.as_slice());
            (Callee { shim, path, span, receiver, class, parameters, takes, output: None }, Some(method.is_async))
        }
        Preview::Function(path) => {
            let (span, path) = (call_site(path.span()), quote!(#path));
            let (receiver, parameters) = (Receiver::None, tool.parameters.as_slice());
            (Callee { shim, path, span, receiver, class, parameters, takes, output: None }, None)
        }
    };
    let span = callee.span;
    // The preview of a blocking tool blocks too.
    let is_blocking = tool.blocking && is_async != Some(true);
    let is_async = if callee.is_built_async() { is_async.map(|_| true) } else { is_async };
    let awaits = matches!(preview, Preview::Method(method) if method.is_async).then(|| quote!(.await));
    decode(tool, &callee, is_blocking || is_async != Some(false), |call, instance| {
        let answer = instance.wrap(quote_spanned!(span=> __tool::Previewed::into_result(#call #awaits)));
        match is_async {
            _ if is_blocking => quote_spanned!(span=> __tool::HandlerStep::blocking(move || { #answer })),
            Some(false) => quote_spanned!(span=> __tool::HandlerStep::Done({ #answer })),
            Some(true) => quote_spanned!(span=> __tool::HandlerStep::future(async move { #answer })),
            // The function's signature is not visible here, so its type decides whether it is `async`.
            None => {
                quote_spanned!(span=> __tool::HandlerStep::future(async move { __tool::PreviewReply(#call).tool_result().await }))
            }
        }
    })
}
