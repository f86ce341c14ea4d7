//! The attributes that schemars reads itself: `#[schemars(..)]`, and the validations of `validate` and `garde`.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, MetaList, Token, Type};

/// An item of `#[schemars(..)]`: an attribute, or `!attribute`, which removes serde's.
pub(super) struct SchemarsItem {
    pub(super) is_removed: bool,
    pub(super) meta: Meta,
}

impl SchemarsItem {
    pub(super) fn name(&self) -> Option<String> {
        self.meta.path().get_ident().map(ToString::to_string)
    }
}

impl Parse for SchemarsItem {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let is_removed = input.parse::<Option<Token![!]>>()?.is_some();
        Ok(Self { is_removed, meta: input.parse()? })
    }
}

/// Returns the items of all attributes of a name. Items that do not parse belong to another derive.
pub(super) fn items(attributes: &[Attribute], name: &str) -> Vec<SchemarsItem> {
    let named = attributes.iter().filter(|attribute| attribute.path().is_ident(name));
    let lists = named.filter_map(|attribute| {
        attribute.parse_args_with(Punctuated::<SchemarsItem, Token![,]>::parse_terminated).ok()
    });
    lists.flatten().collect()
}

fn metas(attributes: &[Attribute], name: &str) -> impl Iterator<Item = (String, Meta)> {
    let given = items(attributes, name).into_iter().filter(|item| !item.is_removed);
    given.filter_map(|item| Some((item.name()?, item.meta)))
}

/// The attributes that describe a container, a variant or a field.
#[derive(Default)]
pub(super) struct DescriptionAttributes {
    /// The lines of the documentation.
    pub(super) docs: Vec<Expr>,
    pub(super) title: Option<Expr>,
    pub(super) description: Option<Expr>,
    pub(super) deprecated: bool,
    pub(super) examples: Vec<Expr>,
    pub(super) extensions: Vec<(String, TokenStream)>,
    pub(super) transforms: Vec<Expr>,
}

impl DescriptionAttributes {
    pub(super) fn read(attributes: &[Attribute]) -> Self {
        let is_doc = |attribute: &&Attribute| attribute.path().is_ident("doc");
        let docs = attributes.iter().filter(is_doc).filter_map(|attribute| attribute.meta.require_name_value().ok());
        let mut common = Self {
            docs: docs.map(|doc| doc.value.clone()).collect(),
            deprecated: attributes.iter().any(|attribute| attribute.path().is_ident("deprecated")),
            ..Self::default()
        };
        for (name, meta) in metas(attributes, "schemars").chain(metas(attributes, "serde")) {
            common.add(&name, meta);
        }
        common
    }

    fn add(&mut self, name: &str, meta: Meta) {
        match (name, meta) {
            ("title", Meta::NameValue(meta)) => self.title = Some(meta.value),
            ("description", Meta::NameValue(meta)) => self.description = Some(meta.value),
            ("example", Meta::NameValue(meta)) => self.examples.push(meta.value),
            ("transform", Meta::NameValue(meta)) => self.transforms.push(meta.value),
            ("extend", Meta::List(list)) => {
                let parsed = list.parse_args_with(Punctuated::<SchemaExtension, Token![,]>::parse_terminated);
                self.extensions.extend(parsed.into_iter().flatten().map(|SchemaExtension(key, value)| (key, value)));
            }
            _ => {}
        }
    }

    /// Returns `true` if there are no such attributes.
    pub(super) fn is_empty(&self) -> bool {
        self.docs.is_empty()
            && self.title.is_none()
            && self.description.is_none()
            && !self.deprecated
            && self.examples.is_empty()
            && self.extensions.is_empty()
            && self.transforms.is_empty()
    }
}

/// `"key" = value` in `extend(..)`.
struct SchemaExtension(String, TokenStream);

impl Parse for SchemaExtension {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key: LitStr = input.parse()?;
        input.parse::<Token![=]>()?;
        let mut value = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            value.extend([input.parse::<TokenTree>()?]);
        }
        Ok(Self(key.value(), value))
    }
}

/// A replacement for the schema of a type.
pub(super) enum SchemaOverride {
    /// `with = "Type"`
    Type(Box<Type>),
    /// `schema_with = "function"`
    Function(String),
}

impl SchemaOverride {
    /// Reads the replacement. On a container only schemars' own `with` counts; serde has none there.
    pub(super) fn read(attributes: &[Attribute], of_container: bool) -> Option<Self> {
        let serde = if of_container { "schemars" } else { "serde" };
        metas(attributes, "schemars").chain(metas(attributes, serde)).find_map(|(name, meta)| match name.as_str() {
            "with" => string(&meta)?.parse().ok().map(|ty| Self::Type(Box::new(ty))),
            "schema_with" => Some(Self::Function(string(&meta)?.value())),
            _ => None,
        })
    }
}

/// Returns `true` if `#[schemars(name)]` is among the attributes.
pub(super) fn is_set(attributes: &[Attribute], name: &str) -> bool {
    metas(attributes, "schemars").any(|(found, _)| found == name)
}

/// The rules for a field in `#[schemars(..)]`, `#[validate(..)]` and `#[garde(..)]`.
#[derive(Default)]
pub(super) struct FieldValidation {
    pub(super) length: Option<BoundExprs>,
    pub(super) range: Option<BoundExprs>,
    pub(super) pattern: Option<Expr>,
    pub(super) contains: Option<Expr>,
    pub(super) required: bool,
    pub(super) format: Option<&'static str>,
    pub(super) inner: Option<Box<FieldValidation>>,
}

/// The bounds in `length(..)` or `range(..)`.
#[derive(Default)]
pub(super) struct BoundExprs {
    pub(super) least: Option<Expr>,
    pub(super) most: Option<Expr>,
}

impl FieldValidation {
    pub(super) fn read(attributes: &[Attribute]) -> Self {
        let mut validation = Self::default();
        for origin in ["schemars", "validate", "garde"] {
            for (name, meta) in metas(attributes, origin) {
                validation.add(&name, &meta, origin);
            }
        }
        validation
    }

    /// Adds a rule. The first one of a kind counts: schemars' own attribute before the others.
    fn add(&mut self, name: &str, meta: &Meta, origin: &str) {
        let has_pattern = self.pattern.is_some() || self.contains.is_some();
        match (name, meta) {
            ("email" | "url" | "ip" | "ipv4" | "ipv6", meta)
                if origin == "validate" || matches!(meta, Meta::Path(_)) =>
            {
                self.format.get_or_insert(match name {
                    "email" => "email",
                    "url" => "uri",
                    "ip" => "ip",
                    "ipv4" => "ipv4",
                    _ => "ipv6",
                });
            }
            ("length", Meta::List(list)) if self.length.is_none() => self.length = Some(BoundExprs::read(list)),
            ("range", Meta::List(list)) if self.range.is_none() => self.range = Some(BoundExprs::read(list)),
            ("required", Meta::Path(_)) => self.required = true,
            ("pattern", Meta::List(list)) if origin != "validate" && !has_pattern => {
                self.pattern = list.parse_args().ok();
            }
            ("regex", Meta::List(list)) if origin != "garde" && !has_pattern => {
                let key = if origin == "validate" { "path" } else { "pattern" };
                self.pattern = value_of(list, key);
            }
            ("contains", Meta::List(list)) if !has_pattern => {
                let plain = || list.parse_args::<Expr>().ok().filter(|expr| !matches!(expr, Expr::Assign(_)));
                self.contains = value_of(list, "pattern").or_else(plain);
            }
            ("inner", Meta::List(list)) if origin != "validate" => {
                let inner = self.inner.get_or_insert_default();
                for meta in nested(list) {
                    if let Some(name) = meta.path().get_ident() {
                        inner.add(&name.to_string(), &meta, origin);
                    }
                }
            }
            _ => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length.is_none()
            && self.range.is_none()
            && self.pattern.is_none()
            && self.contains.is_none()
            && !self.required
            && self.format.is_none()
            && self.inner.is_none()
    }
}

impl BoundExprs {
    fn read(list: &MetaList) -> Self {
        let number = |key| match value_of(list, key)? {
            // Older attributes have numbers in strings.
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.parse().ok(),
            other => Some(other),
        };
        let equal = number("equal");
        Self { least: number("min").or_else(|| equal.clone()), most: number("max").or(equal) }
    }
}

fn nested(list: &MetaList) -> impl Iterator<Item = Meta> + use<> {
    list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).into_iter().flatten()
}

fn value_of(list: &MetaList, key: &str) -> Option<Expr> {
    nested(list).find_map(|meta| match meta {
        Meta::NameValue(meta) if meta.path.is_ident(key) => Some(meta.value),
        _ => None,
    })
}

fn string(meta: &Meta) -> Option<LitStr> {
    match meta {
        Meta::NameValue(meta) => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}
