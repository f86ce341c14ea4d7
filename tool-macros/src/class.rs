//! Expansion of `#[tool_class]` and `tools!`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ImplItem, Item, TraitItem};
use tool_syntax::{
    ClassKind, ParsedClass, Report, inline_docs, parse_declared, read_class, read_declared_class, read_trait,
};

use crate::included::SourceFiles;
use crate::{emit, preview, registration, shim, strip};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let place = "an `impl` block or a trait";
    let mut parsed: Item = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => return emit::unparsed(item, &error),
    };
    let documented = inline_docs(&parsed, &SourceFiles);
    let (classes, report) = match documented.as_ref().unwrap_or(&parsed) {
        Item::Impl(block) => read_class(attribute, block),
        Item::Trait(definition) => read_trait(attribute, definition),
        other => {
            let error = syn::Error::new_spanned(other, format!("`#[tool_class]` goes on {place}"));
            return emit::unparsed(item, &error);
        }
    };
    match &mut parsed {
        Item::Impl(block) => block.items.iter_mut().for_each(|item| {
            if let ImplItem::Fn(method) = item {
                strip::method(&mut method.attrs, &mut method.sig);
            }
        }),
        Item::Trait(definition) => definition.items.iter_mut().for_each(|item| {
            if let TraitItem::Fn(method) = item {
                strip::method(&mut method.attrs, &mut method.sig);
            }
        }),
        _ => {}
    }
    let beside = registrations_or_errors(&classes, report);
    quote!(#parsed #beside)
}

/// Expands `tools! { .. }`.
pub(crate) fn expand_declared(tokens: TokenStream) -> TokenStream {
    let declared = match parse_declared(tokens) {
        Ok(declared) => declared,
        Err(error) => return error.into_compile_error(),
    };
    let expanded = declared.iter().map(|class| {
        let (classes, report) = read_declared_class(class);
        registrations_or_errors(&classes, report)
    });
    expanded.collect()
}

fn registrations_or_errors(classes: &[ParsedClass], report: Report) -> TokenStream {
    match report.into_result() {
        Ok(()) => classes.iter().map(registrations).collect(),
        Err(errors) => errors.into_compile_error(),
    }
}

fn registrations(class: &ParsedClass) -> TokenStream {
    let mut shims = match class.instance {
        ClassKind::Owned | ClassKind::Object => shim::class(class),
        ClassKind::Borrowed => TokenStream::new(),
    };
    let mut tools = Vec::new();
    for tool in &class.tools {
        shims.extend(shim::invoke(tool, Some(class)));
        shims.extend(tool.preview.as_ref().map(|preview| preview::invoke(tool, preview, Some(class))));
        tools.push(registration::registration(tool, Some(class)));
    }
    emit::beside(class.krate.as_ref(), &[], &tools, &shims)
}
