//! On which of its type parameters a schema depends.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{Generics, Path, Type, TypeMacro};

use super::attributes::With;
use super::shape::{Data, Field, Shape};

/// The parameters in the name, and those in the types of the fields that are described.
pub(super) fn relevant(shape: &Shape, generics: &Generics) -> BTreeSet<String> {
    let all: BTreeSet<String> = generics.type_params().map(|parameter| parameter.ident.to_string()).collect();
    // Schemars does not look for `Self`.
    let mut found = Mentions { all: &all, by_self: false, found: BTreeSet::new() };
    let in_name = |name: &&String| shape.is_name_format && shape.name.contains(&format!("{{{name}}}"));
    found.found.extend(all.iter().filter(in_name).cloned());
    let described = |field: &&Field| !(field.attrs.skip_deserializing() && field.attrs.skip_serializing());
    match &shape.data {
        Data::Struct(_, fields) => fields.iter().filter(described).for_each(|field| found.field(field)),
        Data::Enum(variants) => {
            let known = variants
                .iter()
                .filter(|variant| !(variant.attrs.skip_deserializing() && variant.attrs.skip_serializing()));
            known.flat_map(|variant| &variant.fields).filter(described).for_each(|field| found.field(field));
        }
    }
    found.found
}

/// The parameters that a type mentions. One in a `PhantomData` asks nothing of it.
pub(super) fn mentioned(ty: &Type, generics: &Generics) -> BTreeSet<String> {
    let all = generics.type_params().map(|parameter| parameter.ident.to_string()).collect();
    let mut found = Mentions { all: &all, by_self: true, found: BTreeSet::new() };
    found.visit_type(ty);
    found.found
}

struct Mentions<'a> {
    all: &'a BTreeSet<String>,
    /// Whether `Self` mentions all of them.
    by_self: bool,
    found: BTreeSet<String>,
}

impl Mentions<'_> {
    fn field(&mut self, field: &Field) {
        match &field.with {
            Some(With::Type(ty)) => self.visit_type(ty),
            Some(With::Function(_)) => {}
            None => self.visit_type(&field.ty),
        }
    }
}

impl<'ast> Visit<'ast> for Mentions<'_> {
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
