//! Schemas of types that implement `Deserialize` but not `JsonSchema`.
//!
//! [`trace`] deserializes a type again and again from a deserializer without input. The methods that the type calls show
//! its fields, variants and items; an omitted field that causes an error is required. The result is a [`TracedType`],
//! which the generator builds from source instead; [`TracedSchemas`] converts both to the schemas that schemars would
//! generate, without documentation and default values.
//!
//! Three things stay out of sight: the content of `untagged` and internally or adjacently tagged enums and of structs
//! with flattened fields, because serde buffers it, and types that accept any kind of input. Only these leaves are
//! unknown; the shape around them is kept.

pub mod compose;
mod deserializer;
mod discover;
mod fields;
mod items;
mod known;
mod result;
mod samples;
mod schemas;

pub use discover::trace;
pub use known::library_schema;
pub use schemas::TracedSchemas;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use serde_json::Value;

/// The JSON form of a type: its root, and the structs and enums in it by their ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TracedType {
    /// The form of the type itself.
    pub root: TracedForm,
    /// The structs and enums.
    pub types: BTreeMap<String, TracedDefinition>,
}

/// The JSON form of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum TracedForm {
    /// Any value: the type, if its name is known, does not show what it accepts.
    Unknown {
        /// The type, or an empty string.
        type_name: String,
        /// The cause.
        cause: UnknownCause,
    },
    /// An object of a type with flattened fields. Serde buffers its fields.
    Buffered(String),
    /// A schema without references.
    Schema(Value),
    /// The value, or `null`.
    Option(Box<TracedForm>),
    /// An array.
    List(Box<TracedForm>),
    /// An array of unique items.
    Set(Box<TracedForm>),
    /// An array of a fixed length.
    Array(Box<TracedForm>, usize),
    /// An array with a form for each item.
    Tuple(Vec<TracedForm>),
    /// An object with arbitrary keys.
    Map(Box<TracedForm>, Box<TracedForm>),
    /// An enum with a tag among its fields. Serde buffers the other fields.
    Tagged {
        /// The field that holds the tag.
        tag: String,
        /// The field that holds the content, if it is apart from the tag.
        content: Option<String>,
        /// The tags, if no variant accepts others.
        variants: Option<Vec<String>>,
    },
    /// The struct or enum with this id.
    Named(String),
}

impl Default for TracedForm {
    fn default() -> Self {
        Self::unknown("", UnknownCause::NotReached)
    }
}

impl TracedForm {
    /// Creates the form of a part that accepts more than is known.
    #[must_use]
    pub fn unknown(type_name: impl Into<String>, cause: UnknownCause) -> Self {
        Self::Unknown { type_name: type_name.into(), cause }
    }
}

/// A struct or enum.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedDefinition {
    /// The name that serde gives it.
    pub name: String,
    /// `true` if it is written out where it is used, as schemars does with the types of some libraries.
    pub is_inline: bool,
    /// Its content.
    pub body: TracedBody,
}

/// The content of a struct or enum.
#[derive(Clone, Debug, PartialEq)]
pub enum TracedBody {
    /// A struct with one unnamed field.
    Newtype(TracedForm),
    /// A struct with unnamed fields.
    Tuple(Vec<TracedForm>),
    /// A struct with named fields.
    Struct(TracedFields),
    /// An externally tagged enum.
    Enum(Vec<TracedVariant>),
}

/// Named fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TracedFields {
    /// The fields in the order of declaration.
    pub fields: Vec<TracedField>,
    /// `true` if other fields are an error.
    pub denies_unknown: bool,
}

/// A named field.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedField {
    /// The name.
    pub name: String,
    /// `true` if a value without it is an error.
    pub required: bool,
    /// The form of its value.
    pub form: TracedForm,
}

/// A variant of an externally tagged enum.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedVariant {
    /// The name.
    pub name: String,
    /// Its content, or `None` for a variant without data.
    pub content: Option<TracedBody>,
}

/// A part of a traced type that accepts more than its schema can say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnknownPart {
    /// The place, such as `.lines[].price`; empty for the type itself.
    pub path: String,
    /// The type, if its name is known.
    pub type_name: String,
    /// The cause.
    pub cause: UnknownCause,
}

/// The reason why a trace does not show the form of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum UnknownCause {
    /// Its `Deserialize` accepts any kind of value, like that of an `untagged` enum.
    AnyValue,
    /// It is an enum with a `tag`, whose content serde buffers.
    Tagged,
    /// It is a struct with flattened fields, which serde buffers.
    Flattened,
    /// It contains itself, without a struct or enum between that a schema could refer to.
    Recursive,
    /// It was not reached: a part before it has no sample value.
    NotReached,
    /// Its `Deserialize` panicked.
    Panicked,
}

impl fmt::Display for UnknownCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AnyValue => "its `Deserialize` accepts any kind of value",
            Self::Tagged => "serde hides the content of an enum with a `tag`",
            Self::Flattened => "serde hides the fields of a struct with `flatten`",
            Self::Recursive => "it contains itself without a struct or enum between",
            Self::NotReached => "tracing its `Deserialize` stopped before it",
            Self::Panicked => "its `Deserialize` panicked when it was traced",
        })
    }
}

impl UnknownPart {
    /// The remedies, in the order of preference.
    pub const REMEDY: &str = "derive `JsonSchema` for the argument's type and add `#[schemars(with = \"String\")]`, or the type it \
        is read from, to that field; if any value is intended, mark the parameter `#[arg(any)]`";

    /// Returns the text of a warning about this part of an argument.
    #[must_use]
    pub fn message(&self, argument: &str) -> String {
        let ty = if self.type_name.is_empty() { String::new() } else { format!(" (`{}`)", self.type_name) };
        format!("the model cannot see what `{argument}{}`{ty} accepts: {}", self.path, self.cause)
    }
}

impl TracedType {
    /// Returns the parts whose form is unknown. Parts of one type with one cause are listed once, at the first place.
    #[must_use]
    pub fn unknown_parts(&self) -> Vec<UnknownPart> {
        let mut walk = UnknownWalk { traced: self, visited: BTreeSet::new(), found: Vec::new() };
        walk.form(&self.root, "");
        walk.found
    }
}

struct UnknownWalk<'a> {
    traced: &'a TracedType,
    visited: BTreeSet<&'a str>,
    found: Vec<UnknownPart>,
}

impl<'a> UnknownWalk<'a> {
    fn form(&mut self, form: &'a TracedForm, path: &str) {
        match form {
            TracedForm::Unknown { type_name, cause } => self.add(path, type_name, *cause),
            TracedForm::Buffered(type_name) => self.add(path, type_name, UnknownCause::Flattened),
            TracedForm::Tagged { .. } => self.add(path, "", UnknownCause::Tagged),
            TracedForm::Schema(_) => {}
            TracedForm::Option(inner) => self.form(inner, path),
            TracedForm::List(item) | TracedForm::Set(item) | TracedForm::Array(item, _) => {
                self.form(item, &format!("{path}[]"));
            }
            TracedForm::Tuple(items) => self.items(items, path),
            TracedForm::Map(_, value) => self.form(value, &format!("{path}.*")),
            TracedForm::Named(id) => {
                let definition = self.traced.types.get(id).filter(|_| self.visited.insert(id));
                if let Some(definition) = definition {
                    self.body(&definition.body, path);
                }
            }
        }
    }

    fn body(&mut self, body: &'a TracedBody, path: &str) {
        match body {
            TracedBody::Newtype(inner) => self.form(inner, path),
            TracedBody::Tuple(items) => self.items(items, path),
            TracedBody::Struct(fields) => {
                for field in &fields.fields {
                    self.form(&field.form, &format!("{path}.{}", field.name));
                }
            }
            TracedBody::Enum(variants) => {
                for variant in variants {
                    if let Some(content) = &variant.content {
                        self.body(content, &format!("{path}.{}", variant.name));
                    }
                }
            }
        }
    }

    fn items(&mut self, items: &'a [TracedForm], path: &str) {
        for (index, item) in items.iter().enumerate() {
            self.form(item, &format!("{path}[{index}]"));
        }
    }

    fn add(&mut self, path: &str, type_name: &str, cause: UnknownCause) {
        let is_same = |known: &UnknownPart| known.type_name == type_name && known.cause == cause;
        if type_name.is_empty() || !self.found.iter().any(is_same) {
            self.found.push(UnknownPart { path: path.to_owned(), type_name: type_name.to_owned(), cause });
        }
    }
}

/// The stack of a thread that traces: address space, of which only what is used becomes memory. Without optimizations a
/// value is copied in a dozen frames for each level of nesting.
const STACK_SIZE: usize = if cfg!(target_pointer_width = "64") { 256 << 20 } else { 8 << 20 };

/// Returns the result of a trace, which is made once for each type.
pub fn cached(trace: fn() -> TracedType) -> Arc<TracedType> {
    static TRACED: LazyLock<Mutex<HashMap<usize, Arc<TracedType>>>> = LazyLock::new(Mutex::default);
    let known = || TRACED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(traced) = known().get(&(trace as usize)) {
        return traced.clone();
    }
    // The type's own code runs without the lock, and with room for types that are large or deeply nested.
    let thread = std::thread::Builder::new().name("trace".to_owned()).stack_size(STACK_SIZE).spawn(trace);
    let traced = match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(traced)) => traced,
        // Without threads it is traced here.
        Ok(Err(_)) | Err(_) => trace(),
    };
    let traced = Arc::new(traced);
    known().entry(trace as usize).or_insert(traced).clone()
}
