//! Documentation from files: `#[doc = include_str!("tool.md")]`.

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Block, Expr, ExprLit, FnArg, ImplItem, Item, Lit, LitStr, Meta, Signature, Token, TraitItem, parse_quote,
};

use crate::docs::doc_value;

/// Access to documentation files. The macros and the generator locate them differently.
pub trait IncludedFiles {
    /// Reads the file that `include_str!(path)` refers to at a span, if possible.
    fn read(&self, path: &str, at: Span) -> Option<String>;

    /// Returns the value of `env!("CARGO_MANIFEST_DIR")`.
    fn manifest_dir(&self) -> Option<String>;
}

/// Returns an item with the included documentation of its functions inlined, or `None` if it has none.
pub fn inline_docs(item: &Item, files: &dyn IncludedFiles) -> Option<Item> {
    let has_included = match item {
        Item::Fn(function) => is_included(&function.attrs, &function.sig),
        Item::Impl(block) => block.items.iter().any(|item| match item {
            ImplItem::Fn(method) => is_included(&method.attrs, &method.sig),
            _ => false,
        }),
        Item::Trait(definition) => definition.items.iter().any(|item| match item {
            TraitItem::Fn(method) => is_included(&method.attrs, &method.sig),
            _ => false,
        }),
        _ => false,
    };
    has_included.then(|| {
        let mut item = item.clone();
        InlineDocs { files }.visit_item_mut(&mut item);
        item
    })
}

fn is_included(attributes: &[Attribute], signature: &Signature) -> bool {
    let parameter_attributes = signature.inputs.iter().flat_map(|input| match input {
        FnArg::Typed(typed) => typed.attrs.as_slice(),
        FnArg::Receiver(_) => &[],
    });
    attributes.iter().chain(parameter_attributes).filter_map(doc_value).any(|value| !matches!(value, Expr::Lit(_)))
}

/// Refuses files in the docs of parameters: the macro removes those attributes, so rustc would not track the files.
struct UntrackedFiles<'a>(&'a dyn IncludedFiles);

impl IncludedFiles for UntrackedFiles<'_> {
    fn read(&self, _: &str, _: Span) -> Option<String> {
        None
    }

    fn manifest_dir(&self) -> Option<String> {
        self.0.manifest_dir()
    }
}

struct InlineDocs<'a> {
    files: &'a dyn IncludedFiles,
}

impl VisitMut for InlineDocs<'_> {
    fn visit_attribute_mut(&mut self, attribute: &mut Attribute) {
        let Some(value) = doc_value(attribute).filter(|value| !matches!(value, Expr::Lit(_))) else { return };
        // An expression that cannot be expanded is reported by `check::documentation_is_read`.
        if let Some(text) = evaluate(value, self.files)
            && let Meta::NameValue(pair) = &mut attribute.meta
        {
            let text = LitStr::new(&text, pair.value.span());
            pair.value = parse_quote!(#text);
        }
    }

    fn visit_block_mut(&mut self, _: &mut Block) {}

    fn visit_signature_mut(&mut self, signature: &mut Signature) {
        visit_mut::visit_signature_mut(&mut InlineDocs { files: &UntrackedFiles(self.files) }, signature);
    }
}

/// Evaluates literals and the macros that are common in documentation.
fn evaluate(expr: &Expr, files: &dyn IncludedFiles) -> Option<String> {
    let called = match expr {
        Expr::Lit(ExprLit { lit, .. }) => return literal(lit),
        Expr::Group(group) => return evaluate(&group.expr, files),
        Expr::Paren(paren) => return evaluate(&paren.expr, files),
        Expr::Macro(called) => &called.mac,
        _ => return None,
    };
    let parts = || called.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated).ok();
    match called.path.segments.last()?.ident.to_string().as_str() {
        "include_str" => {
            let path = evaluate(parts()?.first()?, files)?;
            let text = files.read(&path, called.path.span())?;
            Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
        }
        "concat" => parts()?.iter().map(|part| evaluate(part, files)).collect(),
        "env" => {
            let name = evaluate(parts()?.first()?, files)?;
            files.manifest_dir().filter(|_| name == "CARGO_MANIFEST_DIR")
        }
        "stringify" => {
            let mut tokens = called.tokens.clone().into_iter();
            tokens.next().filter(|_| tokens.next().is_none()).map(|token| token.to_string())
        }
        _ => None,
    }
}

fn literal(literal: &Lit) -> Option<String> {
    match literal {
        Lit::Str(text) => Some(text.value()),
        Lit::Char(sign) => Some(sign.value().to_string()),
        Lit::Bool(truth) => Some(truth.value.to_string()),
        Lit::Int(int) => Some(int.base10_digits().to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use syn::ItemFn;

    use super::*;

    fn inlined(function: &ItemFn) -> Option<ItemFn> {
        match inline_docs(&Item::Fn(function.clone()), &StubFiles)? {
            Item::Fn(function) => Some(function),
            _ => None,
        }
    }

    struct StubFiles;

    impl IncludedFiles for StubFiles {
        fn read(&self, path: &str, _: Span) -> Option<String> {
            (path == "/app/add.md").then(|| "\u{feff}Adds two numbers.\n\n# Arguments\n* `a` - One.\n".to_owned())
        }

        fn manifest_dir(&self) -> Option<String> {
            Some("/app".to_owned())
        }
    }

    fn description(function: &ItemFn) -> Result<String, String> {
        let read = inlined(function);
        let (tool, report) = crate::read_function(quote::quote!(), read.as_ref().unwrap_or(function));
        report.into_result().map(|()| tool.unwrap().description).map_err(|error| error.to_string())
    }

    #[test]
    fn reads_documentation_from_a_file() {
        let function = parse_quote! {
            #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/add.md"))]
            fn add(a: u8) {}
        };
        assert_eq!(description(&function).unwrap(), "Adds two numbers.");
        let read = inlined(&function).unwrap();
        let (tool, _) = crate::read_function(quote::quote!(), &read);
        let crate::Parameter::Argument(argument) = &tool.unwrap().parameters[0] else { panic!("not an argument") };
        assert_eq!(argument.description.as_deref(), Some("One."));
    }

    #[test]
    fn evaluates_concat_in_documentation() {
        let function = parse_quote! {
            #[doc = concat!("Adds ", 2, ' ', stringify!(u8), "s.")]
            fn add() {}
        };
        assert_eq!(description(&function).unwrap(), "Adds 2 u8s.");
    }

    #[test]
    fn evaluates_documentation_of_parameters_but_includes_no_files() {
        let function: ItemFn = parse_quote!(
            fn add(#[doc = concat!("Number ", 1)] a: u8) {}
        );
        let read = inlined(&function).unwrap();
        let (tool, _) = crate::read_function(quote::quote!(), &read);
        let crate::Parameter::Argument(argument) = &tool.unwrap().parameters[0] else { panic!("not an argument") };
        assert_eq!(argument.description.as_deref(), Some("Number 1"));
        let function: ItemFn = parse_quote!(
            fn add(#[doc = include_str!("/app/add.md")] a: u8) {}
        );
        assert!(description(&function).unwrap_err().contains("description = \"..\""));
    }

    #[test]
    fn reports_documentation_that_cannot_be_evaluated() {
        for value in ["include_str!(\"gone.md\")", "made_up!()", "env!(\"HOME\")"] {
            let function: ItemFn = syn::parse_str(&format!("#[doc = {value}] fn add() {{}}")).unwrap();
            let error = description(&function).unwrap_err();
            assert!(error.contains("description = \"..\""), "{error}");
        }
        let function = parse_quote! {
            #[doc(alias = "plus")]
            fn add() {}
        };
        assert_eq!(description(&function).unwrap(), "");
    }

    #[test]
    fn a_description_replaces_documentation() {
        let function: ItemFn = parse_quote!(
            #[doc = made_up!()]
            fn add() {}
        );
        let (tool, report) = crate::read_function(quote::quote!(description = "Adds."), &function);
        assert!(report.into_result().is_ok());
        assert_eq!(tool.unwrap().description, "Adds.");
    }
}
