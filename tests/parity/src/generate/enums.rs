//! Random enums.

use super::Generator;
use super::attributes::{Companions, plain};
use super::structs::is_inline;
use crate::docs::Docs;
use crate::model::{Attribute, Content, DefaultImpl, Definition, DefinitionId, DefinitionKind, Field, Type, Variant};
use crate::words;

/// The serde representation of an enum.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tagging {
    External,
    Internal,
    Adjacent,
    Untagged,
}

impl Generator {
    /// Makes an enum of unit variants.
    pub(super) fn bare_enum(&mut self, definition: &mut Definition) {
        definition.attributes = self.container();
        definition.is_key = self.chance(40);
        definition.default = if self.chance(30) { DefaultImpl::Derived } else { DefaultImpl::None };
        if self.chance(6) {
            definition.attributes.push(plain("serde", "tag = \"@tag\""));
            definition.is_key = false;
        }
        let documented = self.random.pick(&[0, 0, 100, 50]);
        let count = self.random.between(1, 6);
        let names = self.names(words::VARIANTS, count);
        let variants = names.iter().enumerate().map(|(position, name)| Variant {
            name: (*name).to_owned(),
            docs: Docs::random(&mut self.random, documented),
            attributes: self.variant(position, position + 1 == names.len()),
            content: Content::Unit,
            cfg: if position == 0 { None } else { self.cfg(3) },
        });
        definition.shape = DefinitionKind::Enum(variants.collect());
    }

    /// Makes an enum whose variants have contents.
    pub(super) fn data_enum(&mut self, id: DefinitionId, definition: &mut Definition) {
        definition.attributes = self.container();
        let mut taggings = vec![Tagging::External, Tagging::Adjacent, Tagging::Untagged];
        if definition.generics.is_empty() {
            // Not every type can carry a tag.
            taggings.push(Tagging::Internal);
        }
        let tagging = self.random.pick(&taggings);
        let tag = match tagging {
            Tagging::External => None,
            Tagging::Internal => Some("tag = \"@tag\""),
            Tagging::Adjacent => Some("tag = \"@tag\", content = \"@content\""),
            Tagging::Untagged => Some("untagged"),
        };
        definition.attributes.extend(tag.map(|words| plain("serde", words)));
        if self.chance(10) {
            let case = self.random.pick(words::CASES);
            definition.attributes.push(plain("serde", format!("rename_all_fields = {case:?}")));
        }
        if self.chance(6) {
            definition.attributes.push(plain("serde", "deny_unknown_fields"));
        }
        let generics: Vec<&'static str> = definition.generics.iter().map(|(name, _)| *name).collect();
        let count = self.random.between(1, 5);
        let names = self.names(words::VARIANTS, count);
        let last_is_untagged = tagging == Tagging::External && count > 1 && self.chance(8);
        let documented = self.random.pick(&[0, 100, 50]);
        let mut variants: Vec<Variant> = generics.iter().map(|name| holder(name)).collect();
        for (position, name) in names.iter().enumerate() {
            let is_last = position + 1 == count;
            let content = if is_last && tagging != Tagging::Internal && self.chance(8) {
                let itself = Type::Defined(id, generics.iter().map(|name| Type::Parameter(name)).collect());
                let ty = self.indirect(itself);
                definition.attributes.retain(|attribute| !is_inline(attribute));
                Content::Tuple(vec![bare_field(ty)])
            } else {
                let owner = definition.name.clone();
                self.content(
                    tagging,
                    &generics,
                    &mut Companions {
                        items: &mut definition.items,
                        owner: &owner,
                        associated: generics.is_empty().then_some(&*owner),
                    },
                )
            };
            let is_bare = matches!(content, Content::Unit);
            let may_be_other = is_last && is_bare && matches!(tagging, Tagging::Internal | Tagging::Adjacent);
            let mut attributes = self.variant(position, may_be_other);
            if is_last && last_is_untagged {
                attributes.push(plain("serde", "untagged"));
            }
            if matches!(content, Content::Struct(_)) && self.chance(10) {
                let case = self.random.pick(words::CASES);
                attributes.push(plain("serde", format!("rename_all = {case:?}")));
            }
            let cfg = if position == 0 { None } else { self.cfg(3) };
            let docs = Docs::random(&mut self.random, documented);
            variants.push(Variant { name: (*name).to_owned(), docs, attributes, content, cfg });
        }
        definition.shape = DefinitionKind::Enum(variants);
    }

    fn content(&mut self, tagging: Tagging, generics: &[&'static str], companions: &mut Companions<'_>) -> Content {
        match self.random.below(100) {
            0..25 => Content::Unit,
            25..50 => {
                let ty = self.ty_with(2, generics);
                match tagging {
                    // Only an object can carry a tag.
                    Tagging::Internal if !self.is_object(&ty) => Content::Unit,
                    _ => Content::Tuple(vec![bare_field(ty)]),
                }
            }
            50..65 if tagging != Tagging::Internal => {
                let count = self.random.pick(&[0, 2, 2, 3]);
                Content::Tuple((0..count).map(|_| bare_field(self.ty_with(1, generics))).collect())
            }
            _ => {
                let count = self.random.between(0, 3);
                let names = self.names(words::FIELDS, count);
                let fields = names.iter().enumerate().map(|(position, name)| {
                    let ty = self.ty_with(1, generics);
                    let attributes = self.field(&ty, position, false, companions);
                    let docs = Docs::random(&mut self.random, 40);
                    Field { name: (*name).to_owned(), ty, docs, attributes, cfg: self.cfg(2) }
                });
                Content::Struct(fields.collect())
            }
        }
    }

    /// Returns attributes of a variant. The first variant is never skipped, so that the enum has one.
    fn variant(&mut self, position: usize, may_be_other: bool) -> Vec<Attribute> {
        let mut all = Vec::new();
        match self.random.below(100) {
            0..8 => all.push(plain("serde", format!("rename = \"variant {position}\""))),
            8..10 => {
                all.push(plain("serde", format!("rename(serialize = \"o{position}\", deserialize = \"i{position}\")")));
            }
            10..12 => all.push(plain("serde", format!("alias = \"alias{position}\""))),
            12..14 if position > 0 => all.push(plain("serde", "skip")),
            14..16 if position > 0 => all.push(plain("serde", "skip_deserializing")),
            16..18 if position > 0 => all.push(plain("serde", "skip_serializing")),
            18..20 => all.push(plain("schemars", "description = \"A variant.\"")),
            20 => all.push(plain("schemars", "title = \"Variant\"")),
            21..28 if may_be_other && position > 0 => all.push(plain("serde", "other")),
            28..30 => all.push(plain("schemars", format!("rename = \"schema{position}\""))),
            31 => all.push(plain("deprecated", "note = \"gone\"")),
            30 if position > 0 => all.push(plain("schemars", "skip")),
            _ => {}
        }
        self.sometimes_conditional(&mut all);
        all
    }
}

fn bare_field(ty: Type) -> Field {
    Field { name: String::new(), ty, docs: Docs::none(), attributes: Vec::new(), cfg: None }
}

/// Adds a variant with a type parameter: an unused one would be an error.
fn holder(parameter: &'static str) -> Variant {
    Variant {
        name: format!("Of{parameter}"),
        docs: Docs::none(),
        attributes: Vec::new(),
        content: Content::Tuple(vec![bare_field(Type::Parameter(parameter))]),
        cfg: None,
    }
}
