//! Expansion of `#[tool]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Item, ItemFn};
use tool_syntax::{inline_docs, read_function};

use crate::included::SourceFiles;
use crate::{emit, preview, registration, shim, strip};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    if attribute.to_string() == tool_syntax::marker() {
        return item;
    }
    let mut function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let error = emit::misplaced("tool", "a function", &item, error);
            return emit::unparsed(item, &error);
        }
    };
    let documented = match inline_docs(&Item::Fn(function.clone()), &SourceFiles) {
        Some(Item::Fn(documented)) => Some(documented),
        _ => None,
    };
    let (tool, report) = read_function(attribute, documented.as_ref().unwrap_or(&function));
    strip::function(&mut function.sig);
    let beside = match (tool, report.into_result()) {
        (Some(tool), Ok(())) => {
            let mut shim = shim::invoke(&tool, None);
            shim.extend(tool.preview.as_ref().map(|preview| preview::invoke(&tool, preview, None)));
            let registration = registration::registration(&tool, None);
            emit::beside(tool.krate.as_ref(), &tool.cfgs, &[registration], &shim)
        }
        (_, Err(errors)) => errors.into_compile_error(),
        (None, Ok(())) => TokenStream::new(),
    };
    quote!(#function #beside)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Editors complete inside the emitted item, so it must be emitted even if it is incomplete.
    #[test]
    fn keeps_an_incomplete_item() {
        for (attribute, item) in [
            ("", "fn add(a: Vec<) -> u8 { a.le }"),
            ("", "fn add(a: u8) -> u8 { a. }"),
            ("name = ", "fn add(#[arg(min = 1)] a: u8) -> u8 { a.le }"),
            ("nam", "fn add(#[arg(mi)] a: u8) -> u8 { a.le }"),
        ] {
            let attribute = attribute.parse().unwrap();
            let item: TokenStream = item.parse().unwrap();
            let output = expand(attribute, item.clone()).to_string();
            let (kept, errors) = output.split_once(":: core :: compile_error").unwrap_or((&output, ""));
            assert!(kept.contains("fn add (") && kept.contains("{ a ."), "{output}");
            assert!(!errors.is_empty(), "{output}");
        }
    }

    #[test]
    fn leaves_a_method_alone_that_its_class_has_read() {
        let item: TokenStream = "fn add(&self) {}".parse().unwrap();
        assert_eq!(expand(tool_syntax::marker().parse().unwrap(), item.clone()).to_string(), item.to_string());
    }
}
