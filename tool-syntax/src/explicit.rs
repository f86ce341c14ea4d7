//! `arguments(..)`: argument schemas written by hand.
//!
//! ```text
//! arguments(host(type = "string", required = true), ports(type = "array", items(type = "integer")))
//! ```
//! A key is an identifier or a string; a value is a literal or a list after `=`, an object in parentheses, or absent,
//! which means `true`. List items can be objects too: `anyOf = [(type = "string"), (type = "null")]`.

use darling::FromMeta;
use proc_macro2::Span;
use serde_json::{Map, Value};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Ident, LitStr, Meta, Token, bracketed, parenthesized};

use crate::literal;

/// The contents of `arguments(..)`.
#[derive(Debug)]
pub(crate) struct ExplicitArguments {
    pub(crate) arguments: Vec<ExplicitArgument>,
}

/// The name of an argument, its span and its schema.
type ExplicitArgument = (String, Span, Map<String, Value>);

impl FromMeta for ExplicitArguments {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let Meta::List(list) = meta else {
            let message = "write `arguments(name(type = \"string\", required = true), ..)`";
            return Err(darling::Error::custom(message).with_span(meta));
        };
        let arguments = top_level.parse2(list.tokens.clone()).map_err(darling::Error::from)?;
        Ok(Self { arguments })
    }
}

fn top_level(input: ParseStream<'_>) -> syn::Result<Vec<ExplicitArgument>> {
    let mut arguments = Vec::new();
    while !input.is_empty() {
        let (name, span) = key(input)?;
        let schema = match value(input)? {
            Value::Object(schema) => schema,
            _ => return Err(syn::Error::new(span, format!("write `{name}(type = \"..\", required = true)`"))),
        };
        arguments.push((name, span, schema));
        comma(input)?;
    }
    Ok(arguments)
}

fn object(input: ParseStream<'_>) -> syn::Result<Map<String, Value>> {
    let mut entries = Map::new();
    while !input.is_empty() {
        let (name, span) = key(input)?;
        if entries.insert(name.clone(), value(input)?).is_some() {
            return Err(syn::Error::new(span, format!("duplicate key `{name}`")));
        }
        comma(input)?;
    }
    Ok(entries)
}

fn key(input: ParseStream<'_>) -> syn::Result<(String, Span)> {
    if input.peek(LitStr) {
        let text: LitStr = input.parse()?;
        return Ok((text.value(), text.span()));
    }
    let ident = input.call(Ident::parse_any)?;
    Ok((ident.unraw().to_string(), ident.span()))
}

fn value(input: ParseStream<'_>) -> syn::Result<Value> {
    if input.peek(syn::token::Paren) {
        let content;
        parenthesized!(content in input);
        return object(&content).map(Value::Object);
    }
    if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        return literal_or_list(input);
    }
    Ok(Value::Bool(true))
}

/// Parses a literal, an object in parentheses, or a list of these: `anyOf = [(type = "string"), (type = "null")]`.
fn literal_or_list(input: ParseStream<'_>) -> syn::Result<Value> {
    if input.peek(syn::token::Paren) {
        let content;
        parenthesized!(content in input);
        return object(&content).map(Value::Object);
    }
    if !input.peek(syn::token::Bracket) {
        return literal::to_json(&input.parse::<Expr>()?);
    }
    let content;
    bracketed!(content in input);
    let mut items = Vec::new();
    while !content.is_empty() {
        items.push(literal_or_list(&content)?);
        comma(&content)?;
    }
    Ok(Value::Array(items))
}

fn comma(input: ParseStream<'_>) -> syn::Result<()> {
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(())
}
