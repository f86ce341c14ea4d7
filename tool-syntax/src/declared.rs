//! `tools!`: classes of types that are defined elsewhere, declared by the signatures of their methods.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, ItemImpl, LitStr, Meta, Signature, Token, Type, Visibility, braced, parse_quote};

use crate::attrs::last_segment;

/// One `impl` block of `tools!`.
#[derive(Clone, Debug)]
pub struct DeclaredClass {
    /// The contents of `#[tool_class(..)]`, with the prefix that follows `as`.
    pub(crate) attribute: TokenStream,
    /// The block, its methods with empty bodies.
    pub(crate) block: ItemImpl,
}

/// Parses the contents of `tools! { .. }`.
///
/// # Errors
/// If the tokens are not a list of `impl Type as "prefix" { fn signature(..); .. }`.
pub fn parse_declared(tokens: TokenStream) -> syn::Result<Vec<DeclaredClass>> {
    let parser = |input: ParseStream<'_>| {
        let mut classes = Vec::new();
        while !input.is_empty() {
            classes.push(input.parse()?);
        }
        Ok(classes)
    };
    parser.parse2(tokens)
}

impl Parse for DeclaredClass {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let start: Token![impl] = input.parse()?;
        let first: Type = input.parse()?;
        let (trait_path, ty) = match input.parse::<Option<Token![for]>>()? {
            Some(_) => (Some(trait_path(&first)?), input.parse()?),
            None => (None, first),
        };
        let prefix: Option<LitStr> = match input.parse::<Option<Token![as]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        let content;
        braced!(content in input);
        let mut methods = Vec::new();
        while !content.is_empty() {
            methods.push(content.call(method)?);
        }
        if methods.is_empty() {
            return Err(syn::Error::new(start.span, "declare at least one method: `fn name(&self) -> T;`"));
        }
        let mut block: ItemImpl = match trait_path {
            Some(path) => parse_quote!(impl #path for #ty {}),
            None => parse_quote!(impl #ty {}),
        };
        block.items = methods;
        Ok(Self { attribute: contents(&attributes, prefix)?, block })
    }
}

fn trait_path(ty: &Type) -> syn::Result<syn::Path> {
    match ty {
        Type::Path(path) if path.qself.is_none() => Ok(path.path.clone()),
        other => Err(syn::Error::new_spanned(other, "expected a trait before `for`")),
    }
}

fn method(input: ParseStream<'_>) -> syn::Result<syn::ImplItem> {
    let attributes = input.call(Attribute::parse_outer)?;
    let _: Visibility = input.parse()?;
    let signature: Signature = input.parse()?;
    if input.peek(syn::token::Brace) {
        let message = "`tools!` declares methods that exist; end the signature with `;`";
        return Err(input.error(message));
    }
    input.parse::<Token![;]>()?;
    Ok(syn::ImplItem::Fn(parse_quote!(#(#attributes)* pub #signature {})))
}

/// Joins the contents of `#[tool_class(..)]` and the prefix after `as`.
fn contents(attributes: &[Attribute], prefix: Option<LitStr>) -> syn::Result<TokenStream> {
    let mut contents = TokenStream::new();
    for attribute in attributes.iter().filter(|attribute| !attribute.path().is_ident("doc")) {
        if last_segment(attribute) != "tool_class" {
            let message = "only `#[tool_class(..)]` can be used here";
            return Err(syn::Error::new_spanned(attribute, message));
        }
        if let Meta::List(list) = &attribute.meta {
            contents.extend(list.tokens.clone());
            let ends_with_comma = list.tokens.clone().into_iter().last().is_none_or(|token| token.to_string() == ",");
            contents.extend((!ends_with_comma).then(|| quote!(,)));
        }
    }
    contents.extend(prefix.map(|prefix| quote!(prefix = #prefix)));
    Ok(contents)
}
