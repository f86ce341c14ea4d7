//! A tool as the macros leave it in the binary, and the linkme slice that collects them.

use std::any::Any;
use std::fmt;

use linkme::distributed_slice;

use crate::{ArgumentType, KeyValue, Rule, ToolDefinition, TypeSchema};

/// Every tool of every linked crate. Each element holds the tools of one annotated item.
///
/// The linker decides the order: use [`registrations`], which sorts.
#[doc(hidden)]
#[distributed_slice]
pub static REGISTRATIONS: [&'static [Registration]];

/// One annotated function: what the source says as constants, what the types say through [`Callable`].
///
/// Written out in full by the macros for every tool, so it is small: what few tools say stands behind references.
pub struct Registration {
    /// The tool's name, such as `metrics.newest`.
    pub name: &'static str,
    /// The path of the function, as [`module_path!`] and the item give it.
    pub handler: &'static str,
    /// The description from the doc comment or the attribute.
    pub description: &'static str,
    /// Where the annotation stands.
    pub source: Source,
    /// The parameters that the model fills, in the order of the signature.
    pub arguments: &'static [ArgumentSpec],
    /// Everything else that the attribute says.
    pub options: &'static Options,
    /// How the tool is called.
    pub call: &'static dyn Callable,
}

/// What a registration refers to: the runtime knows how it is called, and it knows its own types.
pub trait Callable: Any + Send + Sync {
    /// What the type system says of the arguments, in the order of the signature, and of the result.
    fn types(&self) -> Types;
}

impl fmt::Debug for dyn Callable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callable")
    }
}

/// What the type system says of a function.
#[derive(Default)]
pub struct Types {
    /// The arguments, in the order of the signature.
    pub arguments: Vec<ArgumentType>,
    /// A successful result, where it has a schema.
    pub returns: Option<ReturnType>,
}

impl Types {
    /// Whether every argument is a number, a truth value or a text of the standard library, of which the schema says
    /// all that its type enforces.
    #[must_use]
    pub fn are_scalar(&self) -> bool {
        self.arguments.iter().all(|argument| argument.is_scalar())
    }
}

/// The type of a successful result.
#[derive(Clone, Copy)]
pub struct ReturnType {
    /// Its full name.
    pub type_name: &'static str,
    /// Its schema.
    pub schema: TypeSchema,
}

/// What an attribute says beyond name, description and arguments.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The values of [keys](crate::KEYS), by name.
    pub keys: &'static [(&'static str, KeyValue)],
    /// The text of `arguments(..)` as a JSON object; it replaces what is inferred.
    pub explicit: Option<&'static str>,
    /// `preview`: calls the function that says what a call would do, with the same arguments.
    pub preview: Option<&'static dyn Callable>,
    /// `manual`: offered only by a dispatcher that is given the service.
    pub manual: bool,
}

impl Options {
    /// Nothing is said.
    pub const NONE: Self = Self { keys: &[], explicit: None, preview: None, manual: false };

    /// Returns the value of a key.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<KeyValue> {
        self.keys.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }
}

impl Registration {
    /// The tool as the manifest shows it.
    #[must_use]
    pub fn definition(&self) -> ToolDefinition {
        crate::assemble::from_registration(self)
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").field("name", &self.name).field("handler", &self.handler).finish_non_exhaustive()
    }
}

/// Where an annotation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// [`file!`]
    pub file: &'static str,
    /// [`line!`]
    pub line: u32,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// What the source says of one argument.
#[derive(Debug)]
pub struct ArgumentSpec {
    /// The name the model uses.
    pub name: &'static str,
    /// Its description, or empty.
    pub description: &'static str,
    /// What `#[arg(..)]` says.
    pub details: &'static ArgumentDetails,
}

/// What `#[arg(..)]` says beyond name and description.
#[derive(Clone, Copy, Debug)]
pub struct ArgumentDetails {
    /// The text of its default as JSON, from `default = ..`.
    pub default: Option<&'static str>,
    /// Whether a bare `default` makes it optional.
    pub or_default: bool,
    /// The demands on its value.
    pub rules: &'static [Rule],
    /// `secret`
    pub secret: bool,
}

impl ArgumentDetails {
    /// Nothing is said.
    pub const NONE: Self = Self { default: None, or_default: false, rules: &[], secret: false };
}

/// All linked tools, sorted by name and then by handler.
#[must_use]
pub fn registrations() -> Vec<&'static Registration> {
    let mut all: Vec<_> = REGISTRATIONS.iter().flat_map(|item| item.iter()).collect();
    all.sort_unstable_by_key(|tool| (tool.name, tool.handler));
    all
}
