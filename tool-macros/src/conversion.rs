//! Code for types that serde does not know: the slots of converted arguments, and the conversion of results.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use tool_syntax::{ArgumentConversion, Container, ConversionKind, ResultConversion, ResultFormat};

use crate::shim::call_site;

/// Returns the slot of an argument that is converted.
pub(crate) fn slot(argument: &ArgumentConversion) -> TokenStream {
    let ArgumentConversion { kind, containers, target } = argument;
    let span = call_site(target.span());
    let described = argument.described();
    let (described, described_span) = match &described {
        Some(ty) if matches!(kind, ConversionKind::Parse) => (quote!(#ty), span),
        Some(ty) => (quote!(#ty), call_site(ty.span())),
        None => (quote!(__tool::Value), span),
    };
    let decoded = containers.iter().rev().fold(described.clone(), |inner, container| match container {
        Container::Option => quote!(::core::option::Option<#inner>),
        Container::List => quote!(::std::vec::Vec<#inner>),
    });
    let decoded = quote_spanned!(described_span=> (&__tool::Ask::<#decoded>::NEW).tool_slot());
    let single = match kind {
        ConversionKind::Parse => quote_spanned!(span=> __tool::Parse::<#target>::NEW.tool_conversion()),
        ConversionKind::Via(_) => quote_spanned!(span=> __tool::Via::<#described, #target>::NEW.tool_conversion()),
        ConversionKind::With(..) => {
            quote_spanned!(span=> __tool::with(|__read: __With| ::core::result::Result::Ok(__read.0)))
        }
    };
    let conversion = containers.iter().rev().fold(single, |inner, container| match container {
        Container::Option => quote_spanned!(span=> __tool::option(#inner)),
        Container::List => quote_spanned!(span=> __tool::list(#inner)),
    });
    let ConversionKind::With(module, _) = kind else {
        return quote_spanned!(span=> __tool::converted(#decoded, #conversion));
    };
    let module_span = call_site(module.span());
    let read = quote_spanned!(module_span=> #module::deserialize(__deserializer)?);
    quote_spanned! {span=>
        {
            struct __With(#target);
            impl<'de> __tool::Deserialize<'de> for __With {
                fn deserialize<__D>(__deserializer: __D) -> ::core::result::Result<Self, __D::Error>
                where
                    __D: __tool::Deserializer<'de>,
                {
                    ::core::result::Result::Ok(__With(#read))
                }
            }
            __tool::described_as(#decoded, #conversion)
        }
    }
}

/// Returns the expression that converts the error of a `Result`.
pub(crate) fn error(format: Option<&ResultFormat>, value: TokenStream) -> TokenStream {
    let span = call_site(value.span());
    let converted = match format {
        None => return value,
        Some(ResultFormat::Display) => quote_spanned!(span=> __tool::displayed(__error)),
        Some(ResultFormat::Debug) => quote_spanned!(span=> __tool::debugged(__error)),
        Some(ResultFormat::Function(path)) => {
            let span = call_site(path.span());
            quote_spanned!(span=> __tool::applied(__error, #path))
        }
    };
    quote_spanned!(span=> ::core::result::Result::map_err(#value, |__error| #converted))
}

/// Returns the expression that converts a result.
pub(crate) fn result(conversion: Option<&ResultConversion>, value: TokenStream) -> TokenStream {
    let Some(ResultConversion { format, is_fallible, containers, ty }) = conversion else { return value };
    let span = call_site(ty.span());
    let single = match format {
        ResultFormat::Display => quote_spanned!(span=> __tool::displayed(__value)),
        ResultFormat::Debug => quote_spanned!(span=> __tool::debugged(__value)),
        ResultFormat::Function(path) => {
            let span = call_site(path.span());
            quote_spanned!(span=> __tool::applied(__value, #path))
        }
    };
    let converted = containers.iter().rev().fold(single, |inner, container| match container {
        Container::Option => quote_spanned!(span=> ::core::option::Option::map(__value, |__value| #inner)),
        Container::List => quote_spanned! {span=>
            ::core::iter::Iterator::collect::<::std::vec::Vec<_>>(
                ::core::iter::Iterator::map(::core::iter::IntoIterator::into_iter(__value), |__value| #inner)
            )
        },
    });
    if *is_fallible {
        return quote_spanned! {span=> match #value { __value => ::core::result::Result::map(__value, |__value| #converted) }};
    }
    quote_spanned!(span=> match #value { __value => #converted })
}
