//! Random structs.

use super::Generator;
use super::attributes::{Companions, plain};
use super::types::names_parameter;
use crate::docs::Docs;
use crate::model::{
    Attribute, AttributeEntry, Companion, Content, DefaultImpl, Definition, DefinitionId, DefinitionKind, Field, Type,
};
use crate::words;

impl Generator {
    /// Turns an empty definition into a struct with named fields.
    pub(super) fn named_struct(&mut self, id: DefinitionId, definition: &mut Definition) {
        definition.attributes = self.container();
        let generics: Vec<&'static str> = definition.generics.iter().map(|(name, _)| *name).collect();
        let denies = self.chance(10);
        if denies {
            definition.attributes.push(plain("serde", "deny_unknown_fields"));
        }
        let count = self.random.between(0, 6);
        let mut names = self.names(words::FIELDS, count);
        let mut types: Vec<Type> = names.iter().map(|_| self.ty_with(2, &generics)).collect();
        if self.recursion(id, &generics, &mut types) {
            // Inlined, its schema would be infinite.
            definition.attributes.retain(|attribute| !is_inline(attribute));
        }
        // An unused parameter would be an error.
        for (name, field) in generics.iter().zip(["of_first", "of_second"]) {
            names.push(field);
            types.push(Type::Parameter(name));
        }
        definition.default = self.default_impl(&types);
        if definition.default != DefaultImpl::None && self.chance(40) {
            definition.attributes.push(plain("serde", "default"));
        }
        if self.chance(3) {
            definition.attributes.push(plain("serde", "tag = \"@struct\""));
        }
        let may_vanish = !matches!(definition.default, DefaultImpl::ByHand(_));
        let owner = definition.name.clone();
        let mut companions = Companions {
            items: &mut definition.items,
            owner: &owner,
            associated: generics.is_empty().then_some(&*owner),
        };
        let fields = names.iter().zip(types).enumerate().map(|(position, (name, ty))| {
            let attributes = self.field(&ty, position, !denies, &mut companions);
            let cfg = if may_vanish && !names_parameter(&ty) { self.cfg(3) } else { None };
            Field { name: (*name).to_owned(), ty, docs: Docs::random(&mut self.random, 50), attributes, cfg }
        });
        definition.shape = DefinitionKind::Struct(Content::Struct(fields.collect()));
    }

    /// Makes some types contain themselves, or the next type.
    fn recursion(&mut self, id: DefinitionId, generics: &[&'static str], types: &mut [Type]) -> bool {
        let referred = self.partner.take_if(|partner| *partner == id).is_some();
        let Some(first) = types.first_mut() else { return false };
        let itself = || Type::Defined(id, generics.iter().map(|name| Type::Parameter(name)).collect());
        if self.chance(8) {
            *first = self.indirect(itself());
        } else if generics.is_empty() && self.chance(5) {
            self.partner = Some(id + 1);
            *first = self.indirect(Type::Defined(id + 1, Vec::new()));
        } else if referred {
            *first = self.indirect(Type::Defined(id - 1, Vec::new()));
        } else {
            return false;
        }
        true
    }

    /// Returns a type that contains another one indirectly.
    pub(super) fn indirect(&mut self, ty: Type) -> Type {
        match self.random.below(3) {
            0 => Type::option(Type::boxed(ty)),
            1 => Type::list(ty),
            _ => Type::Library("std::collections::BTreeMap", vec![Type::library("std::string::String"), ty]),
        }
    }

    fn default_impl(&mut self, types: &[Type]) -> DefaultImpl {
        if self.chance(20) && types.iter().all(|ty| self.has_default(ty)) {
            return DefaultImpl::Derived;
        }
        if !types.is_empty() && self.chance(30) {
            let values: Option<Vec<String>> = types.iter().map(|ty| self.value(ty)).collect();
            if let Some(values) = values {
                return DefaultImpl::ByHand(values);
            }
        }
        DefaultImpl::None
    }

    /// Makes a struct with unnamed fields, mostly one.
    pub(super) fn tuple_struct(&mut self, definition: &mut Definition) {
        let generics: Vec<&'static str> = definition.generics.iter().map(|(name, _)| *name).collect();
        definition.attributes = self.container();
        definition.attributes.retain(|attribute| !renames_fields(attribute));
        let count = if self.chance(75) { 1 } else { self.random.between(0, 3) };
        let mut types: Vec<Type> = (0..count).map(|_| self.ty_with(2, &generics)).collect();
        types.extend(generics.iter().map(|name| Type::Parameter(name)));
        let holds_something = |ty: &Type| self.expand(ty).path() != Some("std::marker::PhantomData");
        if types.len() == 1 && types.iter().all(holds_something) && self.chance(25) {
            definition.attributes.push(plain("serde", "transparent"));
        }
        if self.chance(15) && types.iter().all(|ty| self.has_default(ty)) {
            definition.default = DefaultImpl::Derived;
        }
        let fields = types.into_iter().map(|ty| {
            let docs = Docs::random(&mut self.random, 15);
            let attributes =
                if self.chance(5) { vec![plain("schemars", "description = \"Inside.\"")] } else { Vec::new() };
            Field { name: String::new(), ty, docs, attributes, cfg: None }
        });
        definition.shape = DefinitionKind::Struct(Content::Tuple(fields.collect()));
    }

    /// Makes a struct that is deserialized or serialized as another type.
    pub(super) fn converted_struct(&mut self, definition: &mut Definition) {
        let inner = Type::library(self.random.pick(&["std::string::String", "u32", "i64"]));
        let field = |ty| Field { name: String::new(), ty, docs: Docs::none(), attributes: Vec::new(), cfg: None };
        definition.shape = DefinitionKind::Struct(Content::Tuple(vec![field(inner)]));
        let typed =
            |key, ty: &Type| Attribute { name: "serde", word: AttributeEntry::Typed(key, ty.clone()), cfg: None };
        if self.chance(80) {
            let read = self.ty(2);
            if self.chance(50) {
                definition.attributes.push(typed("from", &read));
                definition.items.push(Companion::From(read));
            } else {
                definition.attributes.push(typed("try_from", &read));
                definition.items.push(Companion::TryFrom(read));
            }
        }
        if self.chance(60) {
            let written = self.ty(2);
            definition.attributes.push(typed("into", &written));
            definition.items.push(Companion::Into(written));
        }
    }
}

/// Returns `true` if an attribute keeps a type out of `$defs`.
pub(super) fn is_inline(attribute: &Attribute) -> bool {
    matches!(&attribute.word, AttributeEntry::Plain(word) if word == "inline")
}

/// Returns `true` if an attribute renames fields, which a tuple struct does not have.
fn renames_fields(attribute: &Attribute) -> bool {
    matches!(&attribute.word, AttributeEntry::Plain(word) if word.starts_with("rename_all"))
}
