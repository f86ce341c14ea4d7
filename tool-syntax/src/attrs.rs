//! The grammar of `#[tool]`, `#[tool_class]` and `#[arg]`.

use darling::ast::NestedMeta;
use darling::util::SpannedValue;
use darling::{Error, FromMeta};
use proc_macro2::TokenStream;
use serde_json::Value;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, LitStr, Meta, Path};
use tool_model::{KEYS, Key, KeyKind, Number};

use crate::constructor::ConstructorParameters;
use crate::conversion::{ConversionKind, ConversionTable, ResultFormat, ViaType};
use crate::explicit::ExplicitArguments;
use crate::generics::GenericTypes;
use crate::instances::InstanceList;
use crate::literal;

/// The contents of `#[tool(..)]`.
#[derive(Debug, Default, FromMeta)]
#[darling(default)]
pub(crate) struct ToolAttr {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) arguments: Option<ExplicitArguments>,
    pub(crate) generics: Option<GenericTypes>,
    pub(crate) blocking: Option<SpannedValue<bool>>,
    #[darling(flatten)]
    pub(crate) keys: KeyValues<false>,
    pub(crate) preview: Option<LitStr>,
    pub(crate) result: Option<SpannedValue<ResultFormat>>,
    pub(crate) error: Option<SpannedValue<ResultFormat>>,
    pub(crate) inject: StringList,
    pub(crate) skip: Option<SpannedValue<bool>>,
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
}

/// The contents of `#[tool_class(..)]`.
#[derive(Debug, Default, FromMeta)]
#[darling(default)]
pub(crate) struct ClassAttr {
    pub(crate) prefix: Option<LitStr>,
    pub(crate) include: Option<StringList>,
    pub(crate) exclude: StringList,
    pub(crate) opt_in: Option<SpannedValue<bool>>,
    #[darling(flatten)]
    pub(crate) keys: KeyValues<true>,
    pub(crate) inject: StringList,
    pub(crate) instances: Option<SpannedValue<InstanceList>>,
    pub(crate) per_call: Option<SpannedValue<bool>>,
    pub(crate) new: Option<ConstructorParameters>,
    pub(crate) types: ConversionTable<ConversionKind>,
    pub(crate) results: ConversionTable<ResultFormat>,
    pub(crate) manual: Option<bool>,
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
}

/// The contents of `#[arg(..)]`.
#[derive(Debug, Default, FromMeta)]
#[darling(default)]
pub(crate) struct ArgAttr {
    pub(crate) default: Option<SpannedValue<DefaultValue>>,
    pub(crate) min: Option<NumberValue>,
    pub(crate) max: Option<NumberValue>,
    pub(crate) min_length: Option<u64>,
    pub(crate) max_length: Option<u64>,
    pub(crate) pattern: Option<LitStr>,
    pub(crate) one_of: Option<SpannedValue<LiteralList>>,
    pub(crate) rename: Option<LitStr>,
    pub(crate) alias: NameList,
    pub(crate) description: Option<LitStr>,
    pub(crate) secret: Option<bool>,
    pub(crate) any: Option<bool>,
    pub(crate) parse: Option<SpannedValue<bool>>,
    pub(crate) via: Option<ViaType>,
    pub(crate) with: Option<LitStr>,
}

impl ClassAttr {
    /// Returns `true` if only methods marked `#[tool]` are exported.
    pub(crate) fn is_opt_in(&self) -> bool {
        self.opt_in.as_ref().is_some_and(|opt_in| **opt_in)
    }
}

/// Values of [keys](tool_model::KEYS) with their spans. With `OF_CLASS`, only keys that a class may set for all its
/// methods are accepted.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyValues<const OF_CLASS: bool>(pub(crate) Vec<SpannedValue<(&'static Key, Value)>>);

impl<const OF_CLASS: bool> FromMeta for KeyValues<OF_CLASS> {
    fn from_list(items: &[NestedMeta]) -> darling::Result<Self> {
        let known = || KEYS.iter().filter(|key| !OF_CLASS || key.on_class);
        let mut errors = Error::accumulator();
        let mut keys: Vec<SpannedValue<(&'static Key, Value)>> = Vec::new();
        for item in items {
            let NestedMeta::Meta(meta) = item else {
                errors.push(Error::unsupported_format("literal").with_span(item));
                continue;
            };
            let name = darling::util::path_to_string(meta.path());
            let Some(key) = known().find(|key| key.name == name) else {
                let names: Vec<&str> = known().map(|key| key.name).collect();
                errors.push(Error::unknown_field_with_alts(&name, &names).with_span(meta.path()));
                continue;
            };
            if keys.iter().any(|known| known.0.name == name) {
                errors.push(Error::duplicate_field(&name).with_span(meta.path()));
            }
            let value = key_value(key.kind, meta).map_err(|error| error.with_span(meta).at(key.name));
            keys.extend(errors.handle(value).map(|value| SpannedValue::new((key, value), meta.span())));
        }
        errors.finish_with(Self(keys))
    }
}

fn key_value(kind: KeyKind, meta: &Meta) -> darling::Result<Value> {
    match kind {
        KeyKind::Flag | KeyKind::Choice => bool::from_meta(meta).map(Value::from),
        KeyKind::Text => LitStr::from_meta(meta).map(|text| text.value().into()),
        KeyKind::Words => StringList::from_meta(meta).map(|words| words.0.iter().map(LitStr::value).collect()),
        KeyKind::Names => NameList::from_meta(meta).map(|names| names.0.iter().map(LitStr::value).collect()),
        KeyKind::Time => DurationLiteral::from_meta(meta).map(|time| time.0.into()),
        _ => Err(Error::custom("this version does not support the key")),
    }
}

/// Parses the tokens between the parentheses of an attribute.
pub(crate) fn parse<T: FromMeta>(tokens: TokenStream) -> syn::Result<T> {
    let items = NestedMeta::parse_meta_list(tokens)?;
    T::from_list(&items).map_err(|error| rephrase(error, &[]))
}

/// Parses the contents of `#[tool_class(..)]`.
pub(crate) fn parse_class(tokens: TokenStream) -> syn::Result<ClassAttr> {
    let items = NestedMeta::parse_meta_list(tokens)?;
    // The word of other libraries is not similar enough to be suggested.
    ClassAttr::from_list(&items).map_err(|error| rephrase(error, &[("name_prefix", "prefix")]))
}

/// Rewrites darling's messages, which speak of fields, in terms of attribute keys. `meant` has keys that do not exist, and
/// the ones that are meant by them.
fn rephrase(error: Error, meant: &[(&str, &str)]) -> syn::Error {
    let errors = error.flatten().into_iter().map(|error| {
        let message = error.to_string().replace("Unknown field: ", "unknown key ");
        let message =
            message.replace(". Did you mean", "; did you mean").replace(". Available values: ", "; the keys are ");
        let mut message = message.replace("Duplicate field", "duplicate key");
        for (unknown, key) in meant {
            if message == format!("unknown key `{unknown}`") {
                message.push_str(&format!("; did you mean `{key}`?"));
            }
        }
        syn::Error::new(error.span(), message)
    });
    let all = errors.reduce(|mut all, error| {
        all.combine(error);
        all
    });
    all.unwrap_or_else(|| syn::Error::new(proc_macro2::Span::call_site(), "invalid attribute"))
}

/// Parses an attribute of an item. An attribute without parentheses is empty.
pub(crate) fn parse_attribute<T: FromMeta + Default>(attribute: &Attribute) -> syn::Result<T> {
    match &attribute.meta {
        Meta::Path(_) => Ok(T::default()),
        Meta::List(list) => parse(list.tokens.clone()),
        Meta::NameValue(_) => {
            let name = last_segment(attribute);
            Err(syn::Error::new_spanned(attribute, format!("write `#[{name}(..)]`")))
        }
    }
}

/// Returns the last segment of an attribute's path.
pub(crate) fn last_segment(attribute: &Attribute) -> String {
    attribute.path().segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
}

/// Returns `true` for the helper attributes on parameters, which the macros remove before rustc sees them.
#[must_use]
pub fn is_helper(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc") || matches!(last_segment(attribute).as_str(), "arg" | "inject")
}

/// Returns `true` if an attribute on a method is `#[tool]`.
#[must_use]
pub fn is_tool(attribute: &Attribute) -> bool {
    last_segment(attribute) == "tool"
}

/// Returns `true` if an attribute is a `cfg_attr` that contains `#[tool]`. Attribute macros see it unexpanded.
#[must_use]
pub fn hides_tool(attribute: &Attribute) -> bool {
    let Meta::List(list) = &attribute.meta else { return false };
    attribute.path().is_ident("cfg_attr") && list.tokens.clone().into_iter().any(|token| token.to_string() == "tool")
}

/// Returns the marker that replaces the contents of a `#[tool]` attribute after `#[tool_class]` has read it. The marked
/// attribute does nothing and keeps the user's import of `tool` in use.
#[must_use]
pub fn marker() -> &'static str {
    "__read_by_tool_class"
}

/// The default of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum DefaultValue {
    /// `#[arg(default)]`: the value of `Default::default()`.
    Trait,
    /// `#[arg(default = ..)]`: a literal, as JSON.
    Literal(Value),
}

impl FromMeta for DefaultValue {
    fn from_word() -> darling::Result<Self> {
        Ok(Self::Trait)
    }

    fn from_expr(expr: &Expr) -> darling::Result<Self> {
        if !literal::is_literal(expr) {
            let message =
                "a default must be a literal, since the model sees it; write `default` alone for `Default::default()`";
            return Err(Error::custom(message).with_span(expr));
        }
        Ok(Self::Literal(literal::to_json(expr)?))
    }
}

/// A number literal with its expression, for error spans.
#[derive(Clone, Debug)]
pub(crate) struct NumberValue {
    pub(crate) value: Number,
    pub(crate) expr: Expr,
}

impl FromMeta for NumberValue {
    fn from_expr(expr: &Expr) -> darling::Result<Self> {
        Ok(Self { value: literal::number(expr)?, expr: expr.clone() })
    }
}

/// An array of literals: `["a", "b"]`.
#[derive(Clone, Debug)]
pub(crate) struct LiteralList(pub(crate) Vec<Value>);

impl FromMeta for LiteralList {
    fn from_expr(expr: &Expr) -> darling::Result<Self> {
        match literal::to_json(expr)? {
            Value::Array(values) if !values.is_empty() => Ok(Self(values)),
            _ => Err(Error::custom("expected a list of the allowed values: `one_of = [\"a\", \"b\"]`").with_span(expr)),
        }
    }
}

/// An array of string literals: `["a", "b"]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct StringList(pub(crate) Vec<LitStr>);

impl FromMeta for StringList {
    fn from_expr(expr: &Expr) -> darling::Result<Self> {
        let wrong = |at: &Expr| Error::custom("expected a list of strings: `[\"a\", \"b\"]`").with_span(at);
        let Expr::Array(array) = expr else { return Err(wrong(expr)) };
        let strings = array.elems.iter().map(|item| match item {
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Ok(text.clone()),
            other => Err(wrong(other)),
        });
        strings.collect::<darling::Result<_>>().map(Self)
    }

    fn from_list(items: &[NestedMeta]) -> darling::Result<Self> {
        let place = items.first().map(syn::spanned::Spanned::span);
        let error = Error::custom("expected a list of strings after `=`: `= [\"a\", \"b\"]`");
        Err(place.iter().fold(error, |error, span| error.with_span(span)))
    }
}

/// One name or a list of names: `"a"` or `["a", "b"]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameList(pub(crate) Vec<LitStr>);

impl FromMeta for NameList {
    fn from_expr(expr: &Expr) -> darling::Result<Self> {
        if let Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(name), .. }) = expr {
            return Ok(Self(vec![name.clone()]));
        }
        match StringList::from_expr(expr) {
            Ok(names) if !names.0.is_empty() => Ok(Self(names.0)),
            _ => Err(Error::custom("expected a name or a list of names: `\"a\"` or `[\"a\", \"b\"]`").with_span(expr)),
        }
    }

    fn from_list(items: &[NestedMeta]) -> darling::Result<Self> {
        StringList::from_list(items).map(|names| Self(names.0))
    }
}

/// A duration such as `"5s"`, in milliseconds.
#[derive(Clone, Copy, Debug)]
struct DurationLiteral(u64);

impl FromMeta for DurationLiteral {
    fn from_string(text: &str) -> darling::Result<Self> {
        let wrong = || Error::custom(format!("{text:?} is not a duration; write \"500ms\", \"5s\", \"2m\" or \"1h\""));
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let amount: u64 = text[..digits].parse().map_err(|_| wrong())?;
        let unit: u64 = match text[digits..].trim() {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return Err(wrong()),
        };
        amount.checked_mul(unit).filter(|&total| total > 0).map(Self).ok_or_else(wrong)
    }
}
