//! What schemars calls the schema of a type, and how it tells types of one name apart.

use std::fmt::Write as _;

use super::generator::Generator;
use super::kind::Kind;
use super::shape::View;
use crate::ty::{DefinitionId, Ty};

impl Generator<'_> {
    /// The name that schemars gives to the schema of a type.
    pub(super) fn name(&self, ty: &Ty) -> String {
        self.name_of(&self.shapes.kind(ty))
    }

    pub(super) fn name_of(&self, kind: &Kind) -> String {
        let name = |ty| self.name(ty);
        match kind {
            Kind::Plain(plain) => plain.name.to_owned(),
            Kind::Unit => "null".to_owned(),
            Kind::Option(inner) => format!("Nullable_{}", name(inner)),
            Kind::List(item) => format!("Array_of_{}", name(item)),
            Kind::Set(item) => format!("Set_of_{}", name(item)),
            Kind::Map(key, value) if self.id(key) == "string" => format!("Map_of_{}", name(value)),
            Kind::Map(key, value) => format!("Map_from_{}_to_{}", name(key), name(value)),
            Kind::Tuple(items) => format!("Tuple_of_{}", items.iter().map(name).collect::<Vec<_>>().join("_and_")),
            Kind::Array(_, 0) => "EmptyArray".to_owned(),
            Kind::Array(item, length) => format!("Array_size_{length}_of_{}", name(item)),
            Kind::Result(success, error) => format!("Result_of_{}_or_{}", name(success), name(error)),
            Kind::Bound(limit) => format!("Bound_of_{}", name(limit)),
            Kind::Range(limit) => format!("Range_of_{}", name(limit)),
            Kind::Defined(id, arguments) => self.defined_name(*id, arguments),
            Kind::Endless(what) | Kind::Unseen(what, _) => what.clone(),
        }
    }

    fn defined_name(&self, id: DefinitionId, arguments: &[Ty]) -> String {
        let Ok(shape) = self.shapes.of(id, View::JsonSchema) else { return String::new() };
        if !shape.is_name_format || !shape.name.contains('{') {
            return shape.name.clone();
        }
        // Braces that stand for themselves are doubled.
        let mut name = shape.name.replace("{{", "\u{1}").replace("}}", "\u{2}");
        for (parameter, ty) in self.shapes.generics(id, arguments) {
            let place = format!("{{{parameter}}}");
            if name.contains(&place) {
                name = name.replace(&place, &self.name(&ty));
            }
        }
        name.replace('\u{1}', "{").replace('\u{2}', "}")
    }

    /// What tells the type apart from others of the same name.
    pub(super) fn id(&self, ty: &Ty) -> String {
        self.id_of(&self.shapes.kind(ty))
    }

    pub(super) fn id_of(&self, kind: &Kind) -> String {
        let id = |ty| self.id(ty);
        match kind {
            Kind::Plain(plain) => plain.id.to_owned(),
            Kind::Unit => "null".to_owned(),
            Kind::Option(inner) => format!("Option<{}>", id(inner)),
            Kind::List(item) => format!("[{}]", id(item)),
            Kind::Set(item) => format!("Set<{}>", id(item)),
            Kind::Map(key, value) if id(key) == "string" => format!("Map<{}>", id(value)),
            Kind::Map(key, value) => format!("Map<{}, {}>", id(key), id(value)),
            Kind::Tuple(items) => format!("({})", items.iter().map(id).collect::<Vec<_>>().join(",")),
            Kind::Array(_, 0) => "[]".to_owned(),
            Kind::Array(item, length) => format!("[{length}; {}]", id(item)),
            Kind::Result(success, error) => format!("Result<{}, {}>", id(success), id(error)),
            Kind::Bound(limit) => format!("Bound<{}>", id(limit)),
            Kind::Range(limit) => format!("Range<{}>", id(limit)),
            Kind::Defined(definition, arguments) => self.defined_id(*definition, arguments),
            Kind::Endless(what) | Kind::Unseen(what, _) => what.clone(),
        }
    }

    fn defined_id(&self, id: DefinitionId, arguments: &[Ty]) -> String {
        let Ok(shape) = self.shapes.of(id, View::JsonSchema) else { return String::new() };
        let module = &self.shapes.types.definition(id).module;
        let filled = self.shapes.generics(id, arguments);
        let relevant: Vec<String> = shape
            .relevant
            .iter()
            .filter_map(|parameter| filled.iter().find(|(name, _)| name == parameter))
            .map(|(_, ty)| self.id(ty))
            .collect();
        if relevant.is_empty() {
            format!("{module}::{}", shape.name)
        } else {
            format!("{module}::{}<{}>", shape.name, relevant.concat())
        }
    }
}

/// A name as it stands in a reference.
pub(super) fn encoded(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'~' => text.push_str("~0"),
            b'/' => text.push_str("~1"),
            b'!' | b'$' | b'&'..=b';' | b'=' | b'?'..=b'Z' | b'_' | b'a'..=b'z' => text.push(char::from(byte)),
            _ => {
                let _ = write!(text, "%{byte:2X}");
            }
        }
    }
    text
}
