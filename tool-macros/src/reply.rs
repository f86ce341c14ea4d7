//! The conversion of what a handler returns.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use tool_syntax::{Delivery, ParsedClass, ParsedTool};

use crate::conversion;
use crate::shim::call_site;

/// Wraps a value that a handler returned. Method resolution, which chooses the conversion, does not see lifetimes, so the
/// layer for errors that can be kept is left out for an error that borrows.
pub(crate) fn reply(tool: &ParsedTool, value: &TokenStream, span: Span) -> TokenStream {
    let value = quote_spanned!(span=> __tool::BorrowedReply(__tool::ResultValue(__tool::ReplyValue(#value))));
    if tool.has_borrowed_error { value } else { quote_spanned!(span=> __tool::HandlerReply(#value)) }
}

/// Returns the expression of a result that is delivered at once: an iterator is collected, and the result of a declared
/// method is checked against its signature.
pub(crate) fn whole_result(
    tool: &ParsedTool,
    class: Option<&ParsedClass>,
    call: TokenStream,
    span: Span,
) -> TokenStream {
    let call = match tool.delivery {
        Delivery::Iterator => quote_spanned!(span=> ::core::iter::Iterator::collect::<::std::vec::Vec<_>>(#call)),
        Delivery::FallibleIterator => quote_spanned! {span=>
            ::core::result::Result::map(#call, |__items| ::core::iter::Iterator::collect::<::std::vec::Vec<_>>(__items))
        },
        Delivery::Whole | Delivery::Stream | Delivery::FallibleStream => call,
    };
    let is_declared = class.is_some_and(|class| class.is_declared);
    if is_declared && tool.is_unit {
        return quote_spanned!(span=> { let __output: () = #call; __output });
    }
    match tool.output.as_ref().filter(|output| is_declared && !output.to_token_stream().to_string().contains('\'')) {
        Some(output) => {
            let output_span = call_site(output.span());
            quote_spanned!(output_span=> { let __output: #output = #call; __output })
        }
        None => call,
    }
}

/// Polls a stream inside the handler's future.
pub(crate) fn reply_of_stream(tool: &ParsedTool, call: &TokenStream, span: Span) -> TokenStream {
    let is_fallible = tool.delivery == Delivery::FallibleStream;
    let item = conversion::result(tool.result.as_ref(), quote!(__item));
    let item = conversion::error(tool.error.as_ref().filter(|_| !is_fallible), item);
    let call = &conversion::error(tool.error.as_ref().filter(|_| is_fallible), call.clone());
    let item = reply(tool, &item, span);
    let failed = reply(tool, &quote!(::core::result::Result::<(), _>::Err(__error)), span);
    let stream = match tool.delivery {
        Delivery::FallibleStream => quote_spanned! {span=>
            match #call {
                ::core::result::Result::Ok(__stream) => __stream,
                ::core::result::Result::Err(__error) => {
                    let __reply = #failed;
                    return __reply.tool_result();
                }
            }
        },
        _ => call.clone(),
    };
    quote_spanned! {span=>
        let __stream = #stream;
        __tool::stream(__stream, __progress, |__item, __collected| #item.tool_collect(__collected)).await
    }
}
