//! Random types and their traits.

use super::Generator;
use crate::model::{DefaultImpl, DefinitionId, DefinitionKind, Type, TypeRole};

const SCALARS: &[&str] = &[
    "bool",
    "char",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "f32",
    "f64",
    "std::string::String",
    "std::string::String",
    "std::string::String",
    "std::path::PathBuf",
];

const TEXTS: &[&str] = &[
    "uuid::Uuid",
    "url::Url",
    "chrono::NaiveDate",
    "chrono::NaiveTime",
    "chrono::NaiveDateTime",
    "chrono::Weekday",
    "std::net::IpAddr",
    "std::net::Ipv4Addr",
    "std::net::Ipv6Addr",
    "std::net::SocketAddr",
    "std::time::Duration",
    "std::time::SystemTime",
    "std::num::NonZeroU8",
    "std::num::NonZeroI64",
    "std::num::NonZeroUsize",
    "serde_json::Value",
    "serde_json::Number",
    "std::sync::atomic::AtomicU32",
    "std::sync::atomic::AtomicBool",
];

/// Generic types whose only argument can be anything.
const WRAPPERS: &[&str] = &[
    "std::option::Option",
    "std::option::Option",
    "std::option::Option",
    "std::vec::Vec",
    "std::vec::Vec",
    "std::vec::Vec",
    "std::collections::VecDeque",
    "std::collections::LinkedList",
    "std::boxed::Box",
    "std::sync::Mutex",
    "std::sync::RwLock",
    "std::num::Wrapping",
    "std::cmp::Reverse",
    "std::ops::Range",
    "std::ops::RangeInclusive",
    "std::ops::Bound",
    "std::marker::PhantomData",
];

/// Generic types whose only argument must be usable as a key.
const SETS: &[&str] = &[
    "std::collections::HashSet",
    "std::collections::BTreeSet",
    "std::collections::BTreeSet",
    "std::collections::BinaryHeap",
];

const KEYS: &[&str] =
    &["std::string::String", "std::string::String", "std::string::String", "u32", "i64", "char", "uuid::Uuid", "bool"];

impl Generator {
    /// Returns a type that deserializes, serializes and has a schema.
    pub(super) fn ty(&mut self, depth: usize) -> Type {
        self.ty_with(depth, &[])
    }

    /// Same as [`ty`](Self::ty), with type parameters that it may use.
    pub(super) fn ty_with(&mut self, depth: usize, generics: &[&'static str]) -> Type {
        if !generics.is_empty() && self.chance(30) {
            return Type::Parameter(self.random.pick(generics));
        }
        match self.random.below(if depth == 0 { 60 } else { 100 }) {
            0..25 => Type::library(self.random.pick(SCALARS)),
            25..32 => self.text(),
            32..60 => self.defined(depth, generics),
            60..80 => {
                let wrapper = self.random.pick(WRAPPERS);
                let inner = match wrapper {
                    // Their `Deserialize` is for numbers, or requires `Ord`.
                    "std::num::Wrapping" => Type::library(self.random.pick(&["u8", "i64"])),
                    _ => self.ty_with(depth - 1, generics),
                };
                Type::Library(wrapper, vec![inner])
            }
            80..84 => {
                let set = self.random.pick(SETS);
                Type::Library(set, vec![self.key()])
            }
            84..91 => {
                let map = self.random.pick(&["std::collections::HashMap", "std::collections::BTreeMap"]);
                Type::Library(map, vec![self.key(), self.ty_with(depth - 1, generics)])
            }
            91..95 => {
                let length = self.random.between(1, 4);
                Type::Tuple((0..length).map(|_| self.ty_with(depth - 1, generics)).collect())
            }
            95..98 => {
                let item = self.ty_with(depth - 1, generics);
                // Arrays of arrays would not fit on a stack: a value is moved many times while it is read.
                let lengths: &[usize] = match &item {
                    Type::Library(_, arguments) if arguments.is_empty() => &[0, 1, 2, 3, 16, 32],
                    _ => &[0, 1],
                };
                Type::Array(Box::new(item), self.random.pick(lengths))
            }
            98 => Type::BoxedSlice(Box::new(self.ty_with(depth - 1, generics))),
            _ => {
                let (value, error) = (self.ty_with(depth - 1, generics), self.ty_with(0, generics));
                Type::Library("std::result::Result", vec![value, error])
            }
        }
    }

    fn text(&mut self) -> Type {
        match self.random.below(TEXTS.len() + 7) {
            0 | 1 => Type::Library("chrono::DateTime", vec![Type::library("chrono::Utc")]),
            2 => {
                let zone = self.random.pick(&["chrono::FixedOffset", "chrono::Local"]);
                Type::Library("chrono::DateTime", vec![Type::library(zone)])
            }
            3 => Type::CowText,
            4 => Type::boxed(Type::library("str")),
            5 => Type::Tuple(Vec::new()),
            6 => Type::Library(
                "serde_json::Map",
                vec![Type::library("std::string::String"), Type::library("serde_json::Value")],
            ),
            index => Type::library(TEXTS[index - 7]),
        }
    }

    pub(super) fn key(&mut self) -> Type {
        let keys: Vec<DefinitionId> =
            self.own.iter().copied().filter(|&id| self.project.definitions[id].is_key).collect();
        if !keys.is_empty() && self.chance(50) {
            return Type::Defined(self.random.pick(&keys), Vec::new());
        }
        Type::library(self.random.pick(KEYS))
    }

    /// Returns a type of this service, or of an earlier one.
    fn defined(&mut self, depth: usize, generics: &[&'static str]) -> Type {
        let everywhere = self.project.definitions.len();
        let candidates = if self.own.is_empty() || self.chance(15) {
            (everywhere.saturating_sub(60)..everywhere).collect()
        } else {
            self.own.clone()
        };
        let usable = |id: &DefinitionId| {
            self.project.definitions.get(*id).is_some_and(|definition| definition.role == TypeRole::Full)
        };
        let candidates: Vec<DefinitionId> = candidates.into_iter().filter(usable).collect();
        if candidates.is_empty() {
            return Type::library(self.random.pick(SCALARS));
        }
        let id = self.random.pick(&candidates);
        Type::Defined(id, self.arguments_for(id, depth, generics))
    }

    fn arguments_for(&mut self, id: DefinitionId, depth: usize, generics: &[&'static str]) -> Vec<Type> {
        let parameters = self.project.definitions[id].generics.clone();
        if parameters.iter().all(|(_, default)| default.is_some()) && self.chance(50) {
            return Vec::new();
        }
        parameters.iter().map(|_| self.ty_with(depth.saturating_sub(1), generics)).collect()
    }

    /// Returns a type of this service with these traits.
    pub(super) fn of_role(&mut self, role: TypeRole) -> Option<Type> {
        let ids: Vec<DefinitionId> =
            self.own.iter().copied().filter(|&id| self.project.definitions[id].role == role).collect();
        (!ids.is_empty()).then(|| Type::Defined(self.random.pick(&ids), Vec::new()))
    }

    /// Resolves aliases at the outermost level.
    pub(super) fn expand(&self, ty: &Type) -> Type {
        let Type::Defined(id, arguments) = ty else { return ty.clone() };
        // A partner does not exist yet, and is not an alias.
        let Some(definition) = self.project.definitions.get(*id) else { return ty.clone() };
        let DefinitionKind::Alias(target) = &definition.shape else { return ty.clone() };
        let filled: Vec<(&str, Type)> = definition
            .generics
            .iter()
            .enumerate()
            .filter_map(|(index, (name, default))| Some((*name, arguments.get(index).or(default.as_ref())?.clone())))
            .collect();
        self.expand(&fill(target, &filled))
    }

    /// Returns `true` if the type is `Default` without a bound on a type parameter.
    pub(super) fn has_default(&self, ty: &Type) -> bool {
        match self.expand(ty) {
            Type::Library("std::option::Option" | "std::vec::Vec", arguments) => !arguments.iter().any(names_parameter),
            Type::Library(path, arguments) => match path {
                "std::collections::HashMap" | "std::collections::BTreeMap" | "std::collections::BTreeSet" => {
                    !arguments.iter().any(names_parameter)
                }
                "std::boxed::Box" => arguments.iter().all(|inner| self.has_default(inner)),
                "str" | "serde_json::Value" | "std::time::Duration" => true,
                path => !path.contains("::") || matches!(path, "std::string::String" | "std::path::PathBuf"),
            },
            Type::Tuple(items) => items.iter().all(|item| self.has_default(item)),
            Type::Array(item, length) => length <= 32 && self.has_default(&item),
            Type::Defined(id, _) => {
                self.project.definitions.get(id).is_some_and(|definition| definition.default != DefaultImpl::None)
            }
            Type::CowText | Type::LentText | Type::BoxedSlice(_) | Type::Parameter(_) => false,
        }
    }

    /// Returns an expression of the type, as in the body of a default function.
    pub(super) fn value(&mut self, ty: &Type) -> Option<String> {
        let numbers = ["7", "0", "100", "1_0", "0x1f", "5 * 20", "i8::MAX as _", "7", "0", "100"];
        Some(match self.expand(ty) {
            Type::Library(path, arguments) => match path {
                "bool" => self.random.pick(&["true", "false"]).to_owned(),
                "char" => "'c'".to_owned(),
                "f32" | "f64" => self.random.pick(&["2.5", "-0.5", "1.0", "0.1"]).to_owned(),
                "std::string::String" => self
                    .random
                    .pick(&[
                        "\"text\".to_owned()",
                        "String::from(\"text\")",
                        "\"te\\\"xt\".to_string()",
                        "\"\".into()",
                        "String::new()",
                    ])
                    .to_owned(),
                "std::path::PathBuf" => "\"/tmp\".into()".to_owned(),
                "std::option::Option" => match self.value(&arguments[0]) {
                    Some(value) if self.chance(50) => format!("Some({value})"),
                    _ => "None".to_owned(),
                },
                "std::vec::Vec" => match self.value(&arguments[0]) {
                    Some(value) if self.chance(50) => format!("vec![{value}, {value}]"),
                    _ => self.random.pick(&["Vec::new()", "vec![]", "Default::default()"]).to_owned(),
                },
                "str" => return None,
                path if path.contains("::") => return None,
                signed if signed.starts_with('i') && self.chance(20) => "-3".to_owned(),
                _ => self.random.pick(&numbers).to_owned(),
            },
            Type::Tuple(items) if !items.is_empty() => {
                let values: Option<Vec<String>> = items.iter().map(|item| self.value(item)).collect();
                format!("({},)", values?.join(", "))
            }
            Type::Array(item, length @ 1..4) => {
                let value = self.value(&item)?;
                format!("[{}]", vec![value; length].join(", "))
            }
            _ => return None,
        })
    }

    /// Returns `true` if values are JSON objects, so that their fields can be flattened.
    pub(super) fn is_object(&self, ty: &Type) -> bool {
        match self.expand(ty) {
            Type::Library("std::collections::HashMap" | "std::collections::BTreeMap", arguments) => {
                arguments[0] == Type::library("std::string::String")
            }
            Type::Library("serde_json::Map", _) => true,
            Type::Library("std::option::Option" | "std::boxed::Box", arguments) => self.is_object(&arguments[0]),
            Type::Defined(id, _) => self.project.definitions.get(id).is_some_and(|definition| {
                let is_struct = matches!(&definition.shape, DefinitionKind::Struct(crate::model::Content::Struct(_)));
                is_struct && !definition.attributes.iter().any(super::attributes::changes_form)
            }),
            _ => false,
        }
    }
}

/// Returns `true` if the type contains a type parameter.
pub(super) fn names_parameter(ty: &Type) -> bool {
    match ty {
        Type::Parameter(_) => true,
        Type::Library(_, inner) | Type::Tuple(inner) | Type::Defined(_, inner) => inner.iter().any(names_parameter),
        Type::Array(inner, _) | Type::BoxedSlice(inner) => names_parameter(inner),
        Type::CowText | Type::LentText => false,
    }
}

/// Substitutes the type parameters.
fn fill(ty: &Type, filled: &[(&str, Type)]) -> Type {
    let all = |types: &[Type]| types.iter().map(|ty| fill(ty, filled)).collect();
    match ty {
        Type::Parameter(name) => {
            filled.iter().find(|(parameter, _)| parameter == name).map_or_else(|| ty.clone(), |(_, ty)| ty.clone())
        }
        Type::Library(path, inner) => Type::Library(path, all(inner)),
        Type::Tuple(inner) => Type::Tuple(all(inner)),
        Type::Defined(id, inner) => Type::Defined(*id, all(inner)),
        Type::Array(inner, length) => Type::Array(Box::new(fill(inner, filled)), *length),
        Type::BoxedSlice(inner) => Type::BoxedSlice(Box::new(fill(inner, filled))),
        Type::CowText | Type::LentText => ty.clone(),
    }
}
