//! Expansion of `#[tool_class]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ImplItem, ItemImpl};
use tool_syntax::{ParsedClass, read_class, with_included_docs_of_methods};

use crate::included::SourceFiles;
use crate::{emit, preview, registration, shim, strip};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut block: ItemImpl = match syn::parse2(item.clone()) {
        Ok(block) => block,
        Err(error) => {
            let error = emit::misplaced("tool_class", "an `impl` block", &item, error);
            return emit::unparsed(item, &error);
        }
    };
    let documented = with_included_docs_of_methods(&block, &SourceFiles);
    let (class, report) = read_class(attribute, documented.as_ref().unwrap_or(&block));
    for item in &mut block.items {
        if let ImplItem::Fn(method) = item {
            strip::method(method);
        }
    }
    let beside = match (class, report.into_result()) {
        (Some(class), Ok(())) => registrations(&class),
        (_, Err(errors)) => errors.into_compile_error(),
        (None, Ok(())) => TokenStream::new(),
    };
    quote!(#block #beside)
}

fn registrations(class: &ParsedClass) -> TokenStream {
    let self_ty = &class.self_ty;
    let mut shims = shim::class(class);
    let mut tools = Vec::new();
    for tool in &class.tools {
        let name = &tool.function;
        shims.extend(shim::invoke(tool, &quote!(<#self_ty>::#name)));
        shims.extend(tool.preview.as_ref().map(|shown| preview::invoke(tool, shown)));
        tools.push(registration::registration(tool, Some(class)));
    }
    emit::beside(class.krate.as_ref(), &[], &tools, &shims)
}
