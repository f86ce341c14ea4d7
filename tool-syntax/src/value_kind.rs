//! The JSON type of an argument, as far as the tokens of its type show it.
//!
//! `build()` and the generator check the settings of every argument against its schema. For the types of the standard
//! library the compiler reports the same mistakes here, at their place.

use darling::util::SpannedValue;
use proc_macro2::Span;
use serde_json::Value;
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, Type};
use tool_model::{Number, Rule};

use crate::attrs::{ArgAttr, DefaultValue};
use crate::parameter::rules;
use crate::{ArgumentForm, Report};

/// The kind of JSON values that a type decodes.
#[derive(Clone, Debug, PartialEq)]
enum ValueKind {
    String,
    Char,
    Boolean,
    Number,
    /// With the range of the type.
    Integer(i128, i128),
    /// With the kind of its items, if known.
    Array(Option<Box<ValueKind>>),
    Object,
}

impl ValueKind {
    /// Returns the kind of the value that is decoded for an argument.
    fn from_form(form: &ArgumentForm) -> Option<Self> {
        match form {
            ArgumentForm::Owned(ty)
            | ArgumentForm::Lent(ty)
            | ArgumentForm::OptionLent(ty)
            | ArgumentForm::AsRef(ty)
            | ArgumentForm::OptionAsRef(ty) => Self::from_type(ty),
            ArgumentForm::LentSlice(item)
            | ArgumentForm::OptionLentSlice(item)
            | ArgumentForm::AsRefSlice(item)
            | ArgumentForm::Iter(item) => Some(Self::array(item)),
            ArgumentForm::LentReferences(item)
            | ArgumentForm::References(item)
            | ArgumentForm::IterReferences(item) => Some(Self::array(&item.owned)),
        }
    }

    fn array(item: &Type) -> Self {
        Self::Array(Self::from_type(item).map(Box::new))
    }

    fn from_type(ty: &Type) -> Option<Self> {
        let path = match ty {
            Type::Path(path) if path.qself.is_none() => &path.path,
            Type::Reference(reference) => return Self::from_type(&reference.elem),
            Type::Group(group) => return Self::from_type(&group.elem),
            Type::Paren(paren) => return Self::from_type(&paren.elem),
            Type::Array(array) => return Some(Self::array(&array.elem)),
            Type::Slice(slice) => return Some(Self::array(&slice.elem)),
            _ => return None,
        };
        let first = path.segments.first()?.ident.to_string();
        if path.segments.len() > 1 && !matches!(first.as_str(), "std" | "core" | "alloc") {
            return None;
        }
        let last = path.segments.last()?;
        // Other names than those of the prelude may be types of the application.
        let is_std = path.segments.len() > 1;
        let arguments: Vec<&Type> = match &last.arguments {
            PathArguments::AngleBracketed(list) => list.args.iter().filter_map(type_argument).collect(),
            _ => Vec::new(),
        };
        let name = last.ident.to_string();
        match (name.as_str(), arguments.as_slice()) {
            ("Option" | "Box", [inner]) => Self::from_type(inner),
            ("Arc" | "Rc" | "Cow", [inner]) if is_std => Self::from_type(inner),
            ("Vec", [item, ..]) => Some(Self::array(item)),
            ("VecDeque" | "HashSet" | "BTreeSet", [item, ..]) if is_std => Some(Self::array(item)),
            ("HashMap" | "BTreeMap", [_, _, ..]) if is_std => Some(Self::Object),
            ("String" | "str", []) => Some(Self::String),
            ("Path" | "PathBuf", []) if is_std => Some(Self::String),
            ("char", []) => Some(Self::Char),
            ("bool", []) => Some(Self::Boolean),
            ("f32" | "f64", []) => Some(Self::Number),
            (name, []) => integer_range(name).map(|(least, most)| Self::Integer(least, most)),
            _ => None,
        }
    }

    fn accepts(&self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Char => value.as_str().is_some_and(|text| text.chars().count() == 1),
            Self::Boolean => value.is_boolean(),
            Self::Number => value.is_number(),
            Self::Integer(least, most) => {
                let number = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
                number.is_some_and(|number| (*least..=*most).contains(&number))
            }
            Self::Array(item) => value
                .as_array()
                .is_some_and(|values| item.as_ref().is_none_or(|item| values.iter().all(|value| item.accepts(value)))),
            Self::Object => value.is_object(),
        }
    }

    /// Returns the name of the JSON type.
    fn type_name(&self) -> &'static str {
        match self {
            Self::String | Self::Char => "string",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::Integer(..) => "integer",
            Self::Array(_) => "array",
            Self::Object => "object",
        }
    }

    /// Describes a value of this kind, with its article.
    fn describe(&self) -> String {
        match self {
            Self::String => "a string".to_owned(),
            Self::Char => "a single character".to_owned(),
            Self::Boolean => "a boolean".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Integer(least, most) if *most <= u32::MAX.into() => format!("an integer from {least} to {most}"),
            Self::Integer(0, _) => "an integer of at least 0".to_owned(),
            Self::Integer(..) => "an integer".to_owned(),
            Self::Array(Some(item)) => format!("a list, each item {}", item.describe()),
            Self::Array(None) => "a list".to_owned(),
            Self::Object => "a map".to_owned(),
        }
    }
}

fn type_argument(argument: &GenericArgument) -> Option<&Type> {
    match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}

fn integer_range(name: &str) -> Option<(i128, i128)> {
    Some(match name {
        "u8" => (0, u8::MAX.into()),
        "u16" => (0, u16::MAX.into()),
        "u32" => (0, u32::MAX.into()),
        "u64" | "usize" => (0, u64::MAX.into()),
        "u128" => (0, i128::MAX),
        "i8" => (i8::MIN.into(), i8::MAX.into()),
        "i16" => (i16::MIN.into(), i16::MAX.into()),
        "i32" => (i32::MIN.into(), i32::MAX.into()),
        "i64" | "isize" => (i64::MIN.into(), i64::MAX.into()),
        "i128" => (i128::MIN, i128::MAX),
        _ => return None,
    })
}

/// Reports settings of `#[arg(..)]` that do not fit the type of the argument: a rule without effect, or a value that no
/// call could pass.
pub(crate) fn check_settings(attr: &ArgAttr, name: &str, form: &ArgumentForm, span: Span, report: &mut Report) {
    let Some(kind) = ValueKind::from_form(form) else { return };
    let described = kind.describe();
    for rule in rules(attr).iter().filter(|rule| !rule.fits(kind.type_name())) {
        let message =
            format!("`{}` has no effect on `{name}`, which is {described}; remove it, or change the type", rule.name());
        report.push(syn::Error::new(span_of(rule, attr).unwrap_or(span), message));
    }
    if let Some(listed) = &attr.one_of
        && let Some(value) = listed.0.iter().find(|value| !kind.accepts(value))
    {
        let message = format!("`one_of` lists {value}, but `{name}` is {described}; list values of its type");
        report.push(syn::Error::new(listed.span(), message));
    }
    let default = attr.default.as_ref().map(|default| (default.span(), SpannedValue::as_ref(default)));
    if let Some((span, DefaultValue::Literal(value))) = default
        && !kind.accepts(value)
    {
        report.push(syn::Error::new(span, format!("the default {value} does not fit `{name}`, which is {described}")));
    }
    if let ValueKind::Integer(least, most) = kind {
        let excludes_all = |number: Number, is_min: bool| match number {
            Number::Int(int) => {
                if is_min {
                    int > most
                } else {
                    int < least
                }
            }
            Number::Float(_) => false,
        };
        for (bound, is_min, word) in [(&attr.min, true, "min"), (&attr.max, false, "max")] {
            if let Some(bound) = bound.as_ref().filter(|bound| excludes_all(bound.value, is_min)) {
                let message = format!("`{word}` excludes every value of `{name}`, which is {described}");
                report.push(syn::Error::new_spanned(&bound.expr, message));
            }
        }
    }
}

fn span_of(rule: &Rule, attr: &ArgAttr) -> Option<Span> {
    match rule {
        Rule::Min(_) => attr.min.as_ref().map(|bound| bound.expr.span()),
        Rule::Max(_) => attr.max.as_ref().map(|bound| bound.expr.span()),
        Rule::Pattern(_) => attr.pattern.as_ref().map(Spanned::span),
        _ => None,
    }
}
