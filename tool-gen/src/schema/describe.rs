//! Keywords that attributes and documentation add to a schema.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use serde_json::{Map, Value};
use syn::Expr;
use syn::spanned::Spanned;

use super::LossKind;
use super::attributes::{BoundExprs, DescriptionAttributes, FieldValidation};
use super::compose;
use super::generator::{ContainerContext, SchemaGenerator};
use super::value::EvaluationScope;
use crate::text::source_text;

impl SchemaGenerator<'_> {
    /// Adds title, description, examples and `deprecated`.
    pub(super) fn describe(&mut self, common: &DescriptionAttributes, schema: &mut Value, context: &ContainerContext) {
        let documented = (!common.docs.is_empty()).then(|| self.documentation(&common.docs, context));
        let (title_in_docs, text) = documented.as_deref().map(title_and_description).unwrap_or_default();
        for (key, given, from_docs) in
            [("title", &common.title, title_in_docs), ("description", &common.description, text)]
        {
            let value = match given {
                Some(expr) => self.text(expr, context).unwrap_or_default(),
                None => from_docs.to_owned(),
            };
            if !value.is_empty() {
                compose::insert(schema, key, value);
            }
        }
        if common.deprecated {
            compose::insert(schema, "deprecated", true);
        }
        if !common.examples.is_empty() {
            let examples: Vec<Value> =
                common.examples.iter().filter_map(|example| self.constant(example, context)).collect();
            compose::insert(schema, "examples", examples);
        }
    }

    /// Adds the keywords of `extend`, which override all others.
    pub(super) fn extend(&mut self, common: &DescriptionAttributes, schema: &mut Value, context: &ContainerContext) {
        for (key, tokens) in &common.extensions {
            match self.json(tokens.clone(), context) {
                Ok(value) => compose::insert(schema, key, value),
                Err(why) => {
                    self.set_place(tokens.span());
                    self.report(source_text(tokens), why, LossKind::Detail);
                }
            }
        }
        for transform in &common.transforms {
            self.set_place(transform.span());
            self.report(source_text(transform), "a transform runs only at run time", LossKind::Type);
        }
    }

    /// Adds the rules for a field.
    pub(super) fn validate(&mut self, validation: &FieldValidation, schema: &mut Value, context: &ContainerContext) {
        if let Some(length) = &validation.length {
            self.bound(length, schema, "string", ["minLength", "maxLength"], context);
            self.bound(length, schema, "array", ["minItems", "maxItems"], context);
        }
        if let Some(range) = &validation.range {
            self.bound(range, schema, "number", ["minimum", "maximum"], context);
        }
        if let Some(pattern) = &validation.pattern
            && let Some(pattern) = self.text(pattern, context)
        {
            compose::insert_validation(schema, "string", "pattern", pattern);
        }
        if let Some(contains) = &validation.contains
            && let Some(text) = self.text(contains, context)
        {
            compose::insert_validation(schema, "string", "pattern", compose::escaped(&text));
        }
        if let Some(format) = validation.format {
            compose::insert(schema, "format", format);
        }
        if let Some(inner) = &validation.inner
            && let Some(items) = schema.get_mut("items").filter(|items| items.is_object() || items.is_boolean())
        {
            self.validate(inner, items, context);
        }
    }

    fn bound(
        &mut self,
        bounds: &BoundExprs,
        schema: &mut Value,
        of_type: &str,
        keys: [&str; 2],
        context: &ContainerContext,
    ) {
        for (key, bound) in keys.into_iter().zip([&bounds.least, &bounds.most]) {
            if let Some(value) = bound.as_ref().and_then(|bound| self.constant(bound, context)) {
                compose::insert_validation(schema, of_type, key, value);
            }
        }
    }

    /// Returns the documentation, each line without its leading space.
    fn documentation(&mut self, lines: &[Expr], context: &ContainerContext) -> String {
        let lines = lines.iter().filter_map(|line| {
            let text = self.text(line, context)?;
            let is_literal = matches!(line, Expr::Lit(_));
            Some(text.strip_prefix(' ').filter(|_| is_literal).map(str::to_owned).unwrap_or(text))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn text(&mut self, expr: &Expr, context: &ContainerContext) -> Option<String> {
        match self.constant(expr, context)? {
            Value::String(text) => Some(text),
            other => Some(other.to_string()),
        }
    }

    /// Evaluates an expression in an attribute. If that fails, the keyword is left out.
    fn constant(&mut self, expr: &Expr, context: &ContainerContext) -> Option<Value> {
        match self.shapes.literal(expr, &EvaluationScope::in_container(context)) {
            Ok(value) => Some(value),
            Err(why) => {
                self.set_place(expr.span());
                self.report(source_text(expr), why, LossKind::Detail);
                None
            }
        }
    }

    /// Reads JSON as the macro `json!` does.
    fn json(&mut self, tokens: TokenStream, context: &ContainerContext) -> Result<Value, String> {
        let mut trees = tokens.clone().into_iter();
        if let (Some(first), None) = (trees.next(), trees.next()) {
            match first {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                    return split(group.stream()).into_iter().map(|item| self.json(item, context)).collect();
                }
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    let entries = split(group.stream()).into_iter().map(|entry| self.entry(entry, context));
                    return entries.collect::<Result<Map<_, _>, _>>().map(Value::Object);
                }
                TokenTree::Ident(ident) if ident == "null" => return Ok(Value::Null),
                _ => {}
            }
        }
        let expr: Expr = syn::parse2(tokens).map_err(|error| error.to_string())?;
        self.shapes.literal(&expr, &EvaluationScope::in_container(context))
    }

    fn entry(&mut self, tokens: TokenStream, context: &ContainerContext) -> Result<(String, Value), String> {
        let mut trees = tokens.into_iter();
        let is_colon = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ':');
        let key: TokenStream = trees.by_ref().take_while(|tree| !is_colon(tree)).collect();
        let key = self.json(key, context)?;
        let key = key.as_str().ok_or("a key of an object is a string")?.to_owned();
        Ok((key, self.json(trees.collect(), context)?))
    }
}

/// Splits tokens at commas.
fn split(tokens: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    for tree in tokens {
        match (&tree, parts.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' => parts.push(TokenStream::new()),
            (_, Some(part)) => part.extend([tree]),
            _ => {}
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Splits documentation into title and description. The title is a heading in the first line.
fn title_and_description(documentation: &str) -> (&str, &str) {
    let trim = |text| str::trim_matches(text, |character: char| character.is_ascii_whitespace());
    let text = trim(documentation);
    if !text.starts_with('#') {
        return ("", text);
    }
    let (heading, rest) = text.split_once('\n').unwrap_or((text, ""));
    (trim(heading.trim_start_matches('#')), trim(rest))
}
