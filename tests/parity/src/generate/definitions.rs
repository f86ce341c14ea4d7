//! Random definitions: their kind and their traits.

use super::Generator;
use super::attributes::plain;
use crate::docs::Docs;
use crate::model::{Attribute, Content, DefaultImpl, Definition, DefinitionId, DefinitionKind, Field, Type, TypeRole};
use crate::words;

impl Generator {
    /// Adds a type to a module.
    pub(super) fn definition(&mut self, module: &[String]) -> DefinitionId {
        let id = self.project.definitions.len();
        let mut definition = self.blank(module, TypeRole::Full);
        if self.partner == Some(id) {
            self.named_struct(id, &mut definition);
            return self.keep(definition);
        }
        let kind = self.random.below(100);
        if kind < 75 && self.chance(15) {
            definition.generics = vec![("T", None)];
            if self.chance(40) {
                definition.generics.push(("U", None));
            } else if self.chance(30) {
                definition.generics = vec![("T", Some(Type::library("u16")))];
            }
        }
        match kind {
            0..32 => self.named_struct(id, &mut definition),
            32..45 => self.tuple_struct(&mut definition),
            45..67 => self.data_enum(id, &mut definition),
            67..75 => self.alias(&mut definition),
            75..92 => self.bare_enum(&mut definition),
            92..96 => self.converted_struct(&mut definition),
            96 => self.lent_struct(&mut definition),
            97 => self.empty_struct(&mut definition),
            _ => self.transparent_struct(&mut definition),
        }
        self.keep(definition)
    }

    /// Adds a type that lacks some traits.
    pub(super) fn lesser(&mut self, module: &[String], role: TypeRole) -> DefinitionId {
        let id = self.project.definitions.len();
        let mut definition = self.blank(module, role);
        if role == TypeRole::Opaque {
            self.opaque(id, &mut definition);
            return self.keep(definition);
        }
        let scalar = |name: &str, path| Field {
            name: name.to_owned(),
            ty: Type::library(path),
            docs: Docs::none(),
            attributes: Vec::new(),
            cfg: None,
        };
        definition.shape = DefinitionKind::Struct(match role {
            TypeRole::Parsed | TypeRole::Injected => Content::Unit,
            _ if self.chance(30) => Content::Tuple(vec![scalar("", "u8")]),
            _ => Content::Struct(vec![scalar("x", "i32"), scalar("text", "std::string::String")]),
        });
        self.keep(definition)
    }

    /// Fills a type that is only `Deserialize`, whose schema is traced.
    fn opaque(&mut self, id: DefinitionId, definition: &mut Definition) {
        match self.random.below(100) {
            0..45 => self.named_struct(id, definition),
            45..55 => self.tuple_struct(definition),
            55..85 => self.data_enum(id, definition),
            85..92 => self.bare_enum(definition),
            _ => self.transparent_struct(definition),
        }
        // A partner would refer to this type, and would have a schema.
        if self.partner.take().is_some() {
            *definition = self.blank(&definition.module.clone(), TypeRole::Opaque);
            self.bare_enum(definition);
        }
        // Keys are used in results, too.
        definition.is_key = false;
        // The attributes of other derives would not compile.
        let strip = |attributes: &mut Vec<Attribute>| attributes.retain(|attribute| attribute.name == "serde");
        let strip_content = |content: &mut Content| match content {
            Content::Unit => {}
            Content::Tuple(fields) | Content::Struct(fields) => {
                fields.iter_mut().for_each(|field| strip(&mut field.attributes));
            }
        };
        strip(&mut definition.attributes);
        match &mut definition.shape {
            DefinitionKind::Struct(content) => strip_content(content),
            DefinitionKind::Enum(variants) => {
                for variant in variants {
                    strip(&mut variant.attributes);
                    strip_content(&mut variant.content);
                }
            }
            DefinitionKind::Alias(_) => {}
        }
    }

    fn keep(&mut self, definition: Definition) -> DefinitionId {
        let id = self.project.definitions.len();
        self.project.definitions.push(definition);
        self.own.push(id);
        id
    }

    fn blank(&mut self, module: &[String], role: TypeRole) -> Definition {
        Definition {
            name: self.name_in(module, if role == TypeRole::Injected { words::RESOURCES } else { words::NOUNS }),
            module: module.to_vec(),
            exports: Vec::new(),
            lifetime: false,
            generics: Vec::new(),
            docs: Docs::random(&mut self.random, 60).sometimes_conditional(&mut self.random),
            attributes: Vec::new(),
            shape: DefinitionKind::Struct(Content::Unit),
            role,
            default: DefaultImpl::None,
            is_key: false,
            items: Vec::new(),
        }
    }

    fn alias(&mut self, definition: &mut Definition) {
        let generics: Vec<&'static str> = definition.generics.iter().map(|(name, _)| *name).collect();
        let target = self.ty_with(2, &generics);
        let parameters = generics.iter().map(|name| Type::Parameter(name));
        definition.shape = DefinitionKind::Alias(match generics.len() {
            0 => target,
            // Every parameter must be used.
            _ => Type::Tuple(parameters.chain([target]).collect()),
        });
    }

    /// Adds a struct with a lifetime.
    fn lent_struct(&mut self, definition: &mut Definition) {
        definition.lifetime = true;
        definition.attributes = self.container();
        let field =
            |name: &str, ty| Field { name: name.to_owned(), ty, docs: Docs::none(), attributes: Vec::new(), cfg: None };
        let other = self.ty(1);
        definition.shape =
            DefinitionKind::Struct(Content::Struct(vec![field("text", Type::LentText), field("other", other)]));
    }

    fn empty_struct(&mut self, definition: &mut Definition) {
        definition.attributes = self.container();
        definition.shape =
            DefinitionKind::Struct(if self.chance(50) { Content::Unit } else { Content::Struct(Vec::new()) });
    }

    fn transparent_struct(&mut self, definition: &mut Definition) {
        definition.attributes = vec![plain("serde", "transparent")];
        let docs = Docs::random(&mut self.random, 50);
        let ty = match self.ty(2) {
            // Otherwise no field would be left.
            ty if self.expand(&ty).path() == Some("std::marker::PhantomData") => Type::option(ty),
            ty => ty,
        };
        let field = Field { name: "inner".to_owned(), ty, docs, attributes: Vec::new(), cfg: None };
        definition.shape = DefinitionKind::Struct(Content::Struct(vec![field]));
    }
}
