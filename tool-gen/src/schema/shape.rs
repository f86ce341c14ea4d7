//! A struct or enum with its attributes read, as one of the derives sees it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use proc_macro2::{Ident, Span};
use quote::quote;
use serde_derive_internals::ast::{self, Style};
use serde_derive_internals::attr::{self, TagType};
use serde_derive_internals::{Ctxt, Derive};
use syn::parse::Parser;
use syn::{Attribute, DeriveInput, Type};

use super::attributes::{Common, Item, Validation, With, is_set, items};
use super::parameters;
use crate::ty::{Definition, DefinitionId, Types};

/// Whose attributes count: schemars lets its own override serde's.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum View {
    JsonSchema,
    Deserialize,
    Serialize,
}

/// A struct or enum.
pub(super) struct Shape {
    pub(super) attrs: attr::Container,
    pub(super) data: Data,
    pub(super) common: Common,
    pub(super) with: Option<With>,
    /// The name of its schema, which may hold `{T}`.
    pub(super) name: String,
    /// Whether generic parameters are filled into the name.
    pub(super) is_name_format: bool,
    pub(super) inline: bool,
    pub(super) ref_variants: bool,
    /// Whether an attribute of schemars overrides one of serde, so that the schema may differ from what is read.
    pub(super) overrides_serde: bool,
    /// The type parameters on which the schema depends, sorted.
    pub(super) relevant: BTreeSet<String>,
}

pub(super) enum Data {
    Enum(Vec<Variant>),
    Struct(Style, Vec<Field>),
}

pub(super) struct Variant {
    pub(super) ident: String,
    pub(super) attrs: attr::Variant,
    pub(super) style: Style,
    pub(super) fields: Vec<Field>,
    pub(super) common: Common,
    pub(super) with: Option<With>,
    pub(super) original: syn::Variant,
}

pub(super) struct Field {
    /// Its name, or its number.
    pub(super) member: String,
    pub(super) attrs: attr::Field,
    pub(super) ty: Type,
    pub(super) common: Common,
    pub(super) with: Option<With>,
    pub(super) validation: Validation,
}

impl Shape {
    fn read(item: &DeriveInput, view: View) -> Result<Self, String> {
        let mut item = item.clone();
        let overrides_serde = Cell::new(false);
        if view == View::JsonSchema {
            let change = |attributes: &mut _| overrides_serde.set(override_serde(attributes) | overrides_serde.get());
            each_attributes(&mut item, change);
        }
        let context = Ctxt::new();
        let derive = if view == View::Serialize { Derive::Serialize } else { Derive::Deserialize };
        let container = ast::Container::from_ast(&context, &item, derive, &Ident::new("private", Span::call_site()));
        context.check().map_err(|error| error.to_string())?;
        let container = container.ok_or("a union has no form in JSON")?;
        let data = match container.data {
            ast::Data::Enum(variants) => Data::Enum(variants.into_iter().map(Variant::read).collect()),
            ast::Data::Struct(style, fields) => Data::Struct(style, fields.into_iter().map(Field::read).collect()),
        };
        let is_name_format = is_set(&item.attrs, "rename");
        let remote = container.attrs.remote().filter(|_| !is_name_format).and_then(|path| path.segments.last());
        let name = match remote {
            Some(segment) => segment.ident.to_string(),
            None => container.attrs.name().deserialize_name().value.clone(),
        };
        let mut shape = Self {
            common: Common::read(&item.attrs),
            with: With::read(&item.attrs, true),
            name,
            is_name_format,
            inline: is_set(&item.attrs, "inline"),
            ref_variants: is_set(&item.attrs, "_unstable_ref_variants"),
            overrides_serde: overrides_serde.get(),
            relevant: BTreeSet::new(),
            attrs: container.attrs,
            data,
        };
        shape.relevant = parameters::relevant(&shape, &item.generics);
        Ok(shape)
    }

    /// The field that a transparent struct stands for.
    pub(super) fn transparent(&self) -> Option<&Field> {
        match &self.data {
            Data::Struct(_, fields) if self.attrs.transparent() => {
                fields.iter().find(|field| field.attrs.transparent())
            }
            _ => None,
        }
    }

    /// The type that the whole of it stands for, where no attribute adds to that.
    pub(super) fn stands_for(&self) -> Option<&Type> {
        if !self.common.is_empty() {
            return None;
        }
        if let Some(With::Type(ty)) = &self.with {
            return Some(ty);
        }
        self.transparent().filter(|field| field.is_plain()).map(|field| &field.ty)
    }

    /// The names that decoding an enum accepts, in the order of declaration; none where it is not decoded by name.
    pub(super) fn variant_names(&self) -> Vec<String> {
        match (&self.data, self.attrs.tag()) {
            (Data::Enum(variants), TagType::External) => {
                let known = variants.iter().filter(|variant| !variant.attrs.skip_deserializing());
                known.flat_map(|variant| variant.attrs.aliases()).map(|name| name.value.clone()).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Variant {
    fn read(variant: ast::Variant<'_>) -> Self {
        let attributes = &variant.original.attrs;
        Self {
            ident: variant.ident.to_string(),
            attrs: variant.attrs,
            style: variant.style,
            fields: variant.fields.into_iter().map(Field::read).collect(),
            common: Common::read(attributes),
            with: With::read(attributes, false),
            original: variant.original.clone(),
        }
    }

    pub(super) fn is_unit(&self) -> bool {
        matches!(self.style, Style::Unit)
    }
}

impl Field {
    fn read(field: ast::Field<'_>) -> Self {
        let attributes = &field.original.attrs;
        Self {
            member: match &field.member {
                syn::Member::Named(ident) => ident.to_string(),
                syn::Member::Unnamed(index) => index.index.to_string(),
            },
            attrs: field.attrs,
            ty: field.ty.clone(),
            common: Common::read(attributes),
            with: With::read(attributes, false),
            validation: Validation::read(attributes),
        }
    }

    fn is_plain(&self) -> bool {
        self.common.is_empty() && self.validation.is_empty() && self.with.is_none()
    }
}

/// What schemars hands to serde's reading of attributes.
const OF_SERDE: [&str; 22] = [
    // Schemars does not look at these two, and does not have them itself.
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

/// Those that schemars has itself, for its own purpose.
const NOT_OVERRIDDEN: [&str; 2] = ["serialize_with", "with"];

/// Replaces serde's attributes by those that remain once schemars' own have overridden them. Returns `true` if there are
/// such.
fn override_serde(attributes: &mut Vec<Attribute>) -> bool {
    let mut effective = Vec::new();
    let mut overridden = BTreeSet::new();
    for item in items(attributes, "schemars") {
        let Some(name) = item.name() else { continue };
        let is_of_serde = OF_SERDE.contains(&name.as_str()) && !NOT_OVERRIDDEN.contains(&name.as_str());
        if !item.is_taken_back {
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
    let is_left =
        |item: &Item| item.name().is_some_and(|name| OF_SERDE.contains(&name.as_str()) && !overridden.contains(&name));
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

/// A shape, or why its attributes cannot be read.
type Read = Result<Rc<Shape>, String>;

/// The shapes that were read so far: the tools of a crate share most of their types.
pub(crate) struct Shapes<'w> {
    pub(super) types: &'w dyn Types,
    /// Whether schemas get the facts that [`tool_model::compatibility`] compares.
    pub(crate) with_facts: bool,
    known: RefCell<HashMap<(DefinitionId, View), Read>>,
}

impl<'w> Shapes<'w> {
    /// None are read yet.
    pub(crate) fn new(types: &'w dyn Types) -> Self {
        Self { types, with_facts: false, known: RefCell::default() }
    }

    /// Adds the facts to schemas that [`tool_model::compatibility`] compares.
    pub(crate) fn with_facts(self, with_facts: bool) -> Self {
        Self { with_facts, ..self }
    }

    pub(super) fn of(&self, id: DefinitionId, view: View) -> Read {
        if let Some(known) = self.known.borrow().get(&(id, view)) {
            return known.clone();
        }
        let shape = Shape::read(&self.types.definition(id).item, view).map(Rc::new);
        self.known.borrow_mut().insert((id, view), shape.clone());
        shape
    }
}

/// What the source says a type can do.
pub(super) trait Abilities {
    /// Whether a trait is derived, by its last name.
    fn derives(&self, name: &str) -> bool;
    /// Whether a trait is implemented by hand.
    fn implements(&self, name: &str) -> bool;
}

impl Abilities for Definition {
    fn derives(&self, name: &str) -> bool {
        derived(&self.item.attrs).any(|found| found == name)
    }

    fn implements(&self, name: &str) -> bool {
        self.impls.iter().any(|(found, _)| found == name)
    }
}

/// The last names of all that is derived.
fn derived(attributes: &[Attribute]) -> impl Iterator<Item = String> {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let paths = derives.filter_map(|attribute| {
        attribute.parse_args_with(syn::punctuated::Punctuated::<syn::Path, syn::Token![,]>::parse_terminated).ok()
    });
    paths.flatten().filter_map(|path| path.segments.last().map(|segment| segment.ident.to_string()))
}
