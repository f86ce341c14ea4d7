//! Values of Rust, as far as plain expressions make them.

use serde_json::Value;
use syn::{Lit, Path};

use super::generator::Inside;
use super::library::wrapped;
use crate::ty::{ScopeId, Ty};

/// A value of Rust.
#[derive(Clone, Debug)]
pub(super) enum Plain {
    Bool(bool),
    Int(i128),
    /// The digits as they are written: what number they are depends on the type.
    Float(String),
    Text(String),
    Nothing,
    Some(Box<Plain>),
    List(Vec<Plain>),
    /// Fields by name or number.
    Struct(Vec<(String, Plain)>),
    Variant(String, Vec<(String, Plain)>),
    /// Of a library type, as it is written.
    Written(Value),
}

/// Where an expression stands.
#[derive(Clone)]
pub(super) struct Scene {
    pub(super) scope: ScopeId,
    pub(super) generics: Vec<(String, Ty)>,
    /// What `Self` is.
    pub(super) this: Option<Ty>,
    /// How many functions and constants were followed.
    pub(super) depth: usize,
}

impl Scene {
    pub(super) fn of(inside: &Inside) -> Self {
        Self { scope: inside.scope(), generics: inside.generics.clone(), this: Some(inside.ty()), depth: 0 }
    }

    pub(super) fn deeper(&self, scope: ScopeId) -> Result<Self, String> {
        if self.depth > 16 {
            return Err("it calls too many others".into());
        }
        Ok(Self { scope, generics: Vec::new(), this: None, depth: self.depth + 1 })
    }
}

/// What a type is in JSON, without the boxes around it.
pub(super) fn unwrapped(mut ty: &Ty) -> &Ty {
    while let Some(inner) = wrapped(ty) {
        ty = inner;
    }
    ty
}

pub(super) fn integer(number: i128) -> Result<Value, String> {
    let small = i64::try_from(number).map(Value::from).or_else(|_| u64::try_from(number).map(Value::from));
    small.map_err(|_| "it is too big a number for JSON".to_owned())
}

pub(super) fn literal(lit: &Lit) -> Option<Plain> {
    Some(match lit {
        Lit::Str(text) => Plain::Text(text.value()),
        Lit::Char(character) => Plain::Text(character.value().to_string()),
        Lit::Bool(value) => Plain::Bool(value.value),
        Lit::Int(number) if matches!(number.suffix(), "f32" | "f64") => Plain::Float(number.base10_digits().to_owned()),
        Lit::Int(number) => Plain::Int(number.base10_parse().ok()?),
        Lit::Float(number) => Plain::Float(number.base10_digits().to_owned()),
        _ => return None,
    })
}

/// `u8::MAX` and its like.
pub(super) fn limit(ty: &str, name: &str) -> Option<Plain> {
    macro_rules! limits {
        ($($number:ident)*) => {
            match (ty, name) {
                $((stringify!($number), "MIN") => i128::try_from($number::MIN).ok(),
                (stringify!($number), "MAX") => i128::try_from($number::MAX).ok(),)*
                _ => None,
            }
        };
    }
    limits!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize).map(Plain::Int)
}

/// Whether a number stays what it is as a value of a type of the language.
pub(super) fn fits(number: i128, ty: &str) -> bool {
    let bound = |name| match limit(ty, name) {
        Some(Plain::Int(bound)) => Some(bound),
        _ => None,
    };
    match ty {
        // All integers up to these have a float of their own.
        "f32" => number.unsigned_abs() <= 1 << f32::MANTISSA_DIGITS,
        "f64" => number.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS,
        _ => bound("MIN").is_some_and(|least| number >= least && number <= bound("MAX").unwrap_or(i128::MAX)),
    }
}

/// The path before the last name.
pub(super) fn owner(path: &Path) -> Option<Path> {
    let count = path.segments.len().checked_sub(1).filter(|count| *count > 0)?;
    Some(Path { leading_colon: path.leading_colon, segments: path.segments.iter().take(count).cloned().collect() })
}
