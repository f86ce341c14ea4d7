//! Structs and enums with their attributes, as one of the derives reads them.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use proc_macro2::{Ident, Span};
use quote::quote;
use serde_derive_internals::ast::Style;
use serde_derive_internals::attr::TagType;
use serde_derive_internals::{Ctxt, Derive, ast, attr};
use syn::parse::Parser;
use syn::visit::Visit;
use syn::{Attribute, DeriveInput, Generics, Path, Type, TypeMacro, visit};

use super::attributes::{DescriptionAttributes, FieldValidation, SchemaOverride, SchemarsItem, is_set, items};
use crate::ty::{DefinitionId, TypeSource};

/// The attributes that schemars reads with serde's own code.
const OF_SERDE: [&str; 22] = [
    // Schemars ignores these two and has no such attributes itself.
    "alias",
    "deserialize_with",
    "rename",
    "rename_all",
    "rename_all_fields",
    "deny_unknown_fields",
    "tag",
    "content",
    "untagged",
    "default",
    "skip",
    "skip_serializing",
    "skip_serializing_if",
    "skip_deserializing",
    "flatten",
    "remote",
    "transparent",
    "into",
    "from",
    "try_from",
    "serialize_with",
    "with",
];

/// Attributes that schemars has itself, with another meaning.
const NOT_OVERRIDDEN: [&str; 2] = ["serialize_with", "with"];

/// The derive whose attributes count. Schemars lets its own override serde's.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum AttributeView {
    JsonSchema,
    Deserialize,
    Serialize,
}

/// A struct or enum with its attributes.
pub(super) struct TypeShape {
    pub(super) attrs: attr::Container,
    pub(super) data: ShapeData,
    pub(super) common: DescriptionAttributes,
    pub(super) with: Option<SchemaOverride>,
    /// The name of its schema, which may contain `{T}`.
    pub(super) name: String,
    /// `true` if generic arguments are inserted into the name.
    pub(super) is_name_format: bool,
    pub(super) inline: bool,
    pub(super) ref_variants: bool,
    /// `true` if an attribute of schemars overrides one of serde, so that the schema may differ from what the type
    /// reads.
    pub(super) overrides_serde: bool,
    /// The type parameters that the schema depends on.
    pub(super) relevant: BTreeSet<String>,
}

pub(super) enum ShapeData {
    Enum(Vec<VariantShape>),
    Struct(Style, Vec<FieldShape>),
}

pub(super) struct VariantShape {
    pub(super) ident: String,
    pub(super) attrs: attr::Variant,
    pub(super) style: Style,
    pub(super) fields: Vec<FieldShape>,
    pub(super) common: DescriptionAttributes,
    pub(super) with: Option<SchemaOverride>,
    pub(super) original: syn::Variant,
}

pub(super) struct FieldShape {
    /// Its name or index.
    pub(super) member: String,
    pub(super) attrs: attr::Field,
    pub(super) ty: Type,
    pub(super) common: DescriptionAttributes,
    pub(super) with: Option<SchemaOverride>,
    pub(super) validation: FieldValidation,
}

impl TypeShape {
    fn read(item: &DeriveInput, view: AttributeView) -> Result<Self, String> {
        let mut item = item.clone();
        let overrides_serde = Cell::new(false);
        if view == AttributeView::JsonSchema {
            let change = |attributes: &mut _| overrides_serde.set(override_serde(attributes) | overrides_serde.get());
            each_attributes(&mut item, change);
        }
        let context = Ctxt::new();
        let derive = if view == AttributeView::Serialize { Derive::Serialize } else { Derive::Deserialize };
        let container = ast::Container::from_ast(&context, &item, derive, &Ident::new("private", Span::call_site()));
        context.check().map_err(|error| error.to_string())?;
        let container = container.ok_or("a union has no JSON form")?;
        let data = match container.data {
            ast::Data::Enum(variants) => ShapeData::Enum(variants.into_iter().map(VariantShape::read).collect()),
            ast::Data::Struct(style, fields) => {
                ShapeData::Struct(style, fields.into_iter().map(FieldShape::read).collect())
            }
        };
        let is_name_format = is_set(&item.attrs, "rename");
        let remote = container.attrs.remote().filter(|_| !is_name_format).and_then(|path| path.segments.last());
        let name = match remote {
            Some(segment) => segment.ident.to_string(),
            None => container.attrs.name().deserialize_name().value.clone(),
        };
        let mut shape = Self {
            common: DescriptionAttributes::read(&item.attrs),
            with: SchemaOverride::read(&item.attrs, true),
            name,
            is_name_format,
            inline: is_set(&item.attrs, "inline"),
            ref_variants: is_set(&item.attrs, "_unstable_ref_variants"),
            overrides_serde: overrides_serde.get(),
            relevant: BTreeSet::new(),
            attrs: container.attrs,
            data,
        };
        shape.relevant = relevant(&shape, &item.generics);
        Ok(shape)
    }

    /// Returns the field of a transparent struct.
    pub(super) fn transparent(&self) -> Option<&FieldShape> {
        match &self.data {
            ShapeData::Struct(_, fields) if self.attrs.transparent() => {
                fields.iter().find(|field| field.attrs.transparent())
            }
            _ => None,
        }
    }

    /// Returns the type that replaces this one, if no attribute adds anything.
    pub(super) fn replacement(&self) -> Option<&Type> {
        if !self.common.is_empty() {
            return None;
        }
        if let Some(SchemaOverride::Type(ty)) = &self.with {
            return Some(ty);
        }
        self.transparent().filter(|field| field.is_plain()).map(|field| &field.ty)
    }

    /// Returns the names that an externally tagged enum accepts, in the order of declaration.
    pub(super) fn variant_names(&self) -> Vec<String> {
        match (&self.data, self.attrs.tag()) {
            (ShapeData::Enum(variants), TagType::External) => {
                let known = variants.iter().filter(|variant| !variant.attrs.skip_deserializing());
                known.flat_map(|variant| variant.attrs.aliases()).map(|name| name.value.clone()).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl VariantShape {
    fn read(variant: ast::Variant<'_>) -> Self {
        let attributes = &variant.original.attrs;
        Self {
            ident: variant.ident.to_string(),
            attrs: variant.attrs,
            style: variant.style,
            fields: variant.fields.into_iter().map(FieldShape::read).collect(),
            common: DescriptionAttributes::read(attributes),
            with: SchemaOverride::read(attributes, false),
            original: variant.original.clone(),
        }
    }

    pub(super) fn is_unit(&self) -> bool {
        matches!(self.style, Style::Unit)
    }
}

impl FieldShape {
    fn read(field: ast::Field<'_>) -> Self {
        let attributes = &field.original.attrs;
        Self {
            member: match &field.member {
                syn::Member::Named(ident) => ident.to_string(),
                syn::Member::Unnamed(index) => index.index.to_string(),
            },
            attrs: field.attrs,
            ty: field.ty.clone(),
            common: DescriptionAttributes::read(attributes),
            with: SchemaOverride::read(attributes, false),
            validation: FieldValidation::read(attributes),
        }
    }

    fn is_plain(&self) -> bool {
        self.common.is_empty() && self.validation.is_empty() && self.with.is_none()
    }
}

/// A shape, or the reason why its attributes cannot be read.
type ShapeResult = Result<Rc<TypeShape>, String>;

/// The shapes that were read so far. The tools of a crate share most of their types.
pub(crate) struct TypeShapes<'w> {
    pub(super) types: &'w dyn TypeSource,
    /// `true` to add the facts that [`tool_model::compatibility`] compares.
    pub(crate) with_facts: bool,
    known: RefCell<HashMap<(DefinitionId, AttributeView), ShapeResult>>,
}

impl<'w> TypeShapes<'w> {
    /// Creates an empty cache.
    pub(crate) fn new(types: &'w dyn TypeSource) -> Self {
        Self { types, with_facts: false, known: RefCell::default() }
    }

    /// Sets whether schemas get the facts that [`tool_model::compatibility`] compares.
    pub(crate) fn with_facts(self, with_facts: bool) -> Self {
        Self { with_facts, ..self }
    }

    pub(super) fn shape(&self, id: DefinitionId, view: AttributeView) -> ShapeResult {
        if let Some(known) = self.known.borrow().get(&(id, view)) {
            return known.clone();
        }
        let shape = TypeShape::read(&self.types.definition(id).item, view).map(Rc::new);
        self.known.borrow_mut().insert((id, view), shape.clone());
        shape
    }
}

struct ParameterMentions<'a> {
    all: &'a BTreeSet<String>,
    /// `true` if `Self` mentions all of them.
    by_self: bool,
    found: BTreeSet<String>,
}

impl ParameterMentions<'_> {
    fn field(&mut self, field: &FieldShape) {
        match &field.with {
            Some(SchemaOverride::Type(ty)) => self.visit_type(ty),
            Some(SchemaOverride::Function(_)) => {}
            None => self.visit_type(&field.ty),
        }
    }
}

impl<'ast> Visit<'ast> for ParameterMentions<'_> {
    fn visit_path(&mut self, path: &'ast Path) {
        if path.segments.last().is_some_and(|segment| segment.ident == "PhantomData") {
            return;
        }
        if path.leading_colon.is_none()
            && let Some(first) = path.segments.first()
        {
            if let Some(parameter) = self.all.get(&first.ident.to_string()) {
                self.found.insert(parameter.clone());
            } else if self.by_self && first.ident == "Self" {
                self.found.extend(self.all.iter().cloned());
            }
        }
        visit::visit_path(self, path);
    }

    fn visit_type_macro(&mut self, _: &'ast TypeMacro) {}
}

/// Replaces serde's attributes by those that remain once schemars' own have overridden them. Returns `true` if there are
/// such.
fn override_serde(attributes: &mut Vec<Attribute>) -> bool {
    let mut effective = Vec::new();
    let mut overridden = BTreeSet::new();
    for item in items(attributes, "schemars") {
        let Some(name) = item.name() else { continue };
        let is_of_serde = OF_SERDE.contains(&name.as_str()) && !NOT_OVERRIDDEN.contains(&name.as_str());
        if !item.is_removed {
            if !is_of_serde {
                continue;
            }
            effective.push(item.meta);
            if name == "skip" {
                overridden.extend(["skip_serializing".to_owned(), "skip_deserializing".to_owned()]);
            }
        }
        overridden.insert(name);
    }
    let is_left = |item: &SchemarsItem| {
        item.name().is_some_and(|name| OF_SERDE.contains(&name.as_str()) && !overridden.contains(&name))
    };
    effective.extend(items(attributes, "serde").into_iter().filter(is_left).map(|item| item.meta));
    attributes.retain(|attribute| !attribute.path().is_ident("serde"));
    if !effective.is_empty() {
        attributes.extend(Attribute::parse_outer.parse2(quote!(#[serde(#(#effective),*)])).into_iter().flatten());
    }
    !overridden.is_empty()
}

fn each_attributes(item: &mut DeriveInput, change: impl Fn(&mut Vec<Attribute>)) {
    let fields = |fields: &mut syn::Fields| fields.iter_mut().for_each(|field| change(&mut field.attrs));
    change(&mut item.attrs);
    match &mut item.data {
        syn::Data::Struct(data) => fields(&mut data.fields),
        syn::Data::Enum(data) => {
            for variant in &mut data.variants {
                change(&mut variant.attrs);
                fields(&mut variant.fields);
            }
        }
        syn::Data::Union(_) => {}
    }
}

/// Returns the type parameters in the name, and those in the types of the described fields.
pub(super) fn relevant(shape: &TypeShape, generics: &Generics) -> BTreeSet<String> {
    let all: BTreeSet<String> = generics.type_params().map(|parameter| parameter.ident.to_string()).collect();
    // Schemars does not look for `Self`.
    let mut found = ParameterMentions { all: &all, by_self: false, found: BTreeSet::new() };
    let in_name = |name: &&String| shape.is_name_format && shape.name.contains(&format!("{{{name}}}"));
    found.found.extend(all.iter().filter(in_name).cloned());
    let described = |field: &&FieldShape| !(field.attrs.skip_deserializing() && field.attrs.skip_serializing());
    match &shape.data {
        ShapeData::Struct(_, fields) => fields.iter().filter(described).for_each(|field| found.field(field)),
        ShapeData::Enum(variants) => {
            let known = variants
                .iter()
                .filter(|variant| !(variant.attrs.skip_deserializing() && variant.attrs.skip_serializing()));
            known.flat_map(|variant| &variant.fields).filter(described).for_each(|field| found.field(field));
        }
    }
    found.found
}

/// Returns the type parameters that a type mentions outside of `PhantomData`.
pub(super) fn mentioned(ty: &Type, generics: &Generics) -> BTreeSet<String> {
    let all = generics.type_params().map(|parameter| parameter.ident.to_string()).collect();
    let mut found = ParameterMentions { all: &all, by_self: true, found: BTreeSet::new() };
    found.visit_type(ty);
    found.found
}
