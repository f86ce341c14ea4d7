//! Random conversions of arguments and results.

use super::Generator;
use crate::model::{Form, Type, TypeRole};
use crate::words;

/// Types with `FromStr`.
const PARSED: &[&str] = &["bool", "char", "i8", "u16", "i64", "f64", "std::string::String", "std::net::IpAddr"];

impl Generator {
    /// Returns a parameter with a conversion: its form, the entries of its `#[arg(..)]`, and the type of `via(..)`. Every
    /// type is converted from itself, so `via` takes any.
    pub(super) fn converted(&mut self) -> (Form, Option<Vec<String>>, Option<Type>) {
        if self.chance(40) {
            let parsed = self.of_role(TypeRole::Parsed).filter(|_| self.chance(50));
            let ty = parsed.unwrap_or_else(|| Type::library(self.random.pick(PARSED)));
            let mut words = vec!["parse".to_owned()];
            let form = self.form_of(ty);
            if self.chance(30) && !matches!(form, Form::Slice(_) | Form::OptionSlice(_)) {
                words.push(format!("pattern = {}", self.random.pick(words::PATTERNS)));
            }
            return (form, Some(words), None);
        }
        let opaque = self.of_role(TypeRole::Opaque).filter(|_| self.chance(30));
        let ty = opaque.unwrap_or_else(|| self.ty(0));
        let form = self.form_of(ty.clone());
        (form.clone(), self.arg(&form), Some(ty))
    }

    /// Returns a form around a type, with containers that the macro recognizes by their identifiers.
    fn form_of(&mut self, ty: Type) -> Form {
        match self.random.below(6) {
            0 | 1 => Form::Owned(ty),
            2 => Form::Lent(ty),
            3 => Form::Slice(ty),
            4 => Form::OptionLent(ty),
            _ => Form::OptionSlice(ty),
        }
    }

    /// Returns `true` if a type certainly implements `Debug`.
    pub(super) fn is_debug(&self, ty: &Type) -> bool {
        match ty {
            Type::Library(_, arguments) => arguments.iter().all(|argument| self.is_debug(argument)),
            Type::Tuple(items) => !items.is_empty() && items.iter().all(|item| self.is_debug(item)),
            Type::Array(item, _) | Type::BoxedSlice(item) => self.is_debug(item),
            Type::CowText => true,
            Type::Defined(..) => match self.expand(ty) {
                Type::Defined(..) => false,
                expanded => self.is_debug(&expanded),
            },
            Type::LentText | Type::Parameter(_) => false,
        }
    }
}
