//! Registrations of tools, and the linkme slice that collects them.

use std::any::Any;
use std::fmt;

use linkme::distributed_slice;

use crate::{ArgumentType, KeyValue, Rule, ToolDefinition, TypeSchema};

/// The tools of all linked crates. Each element holds the tools of one annotated item.
///
/// In linker order; [`registrations`] returns them sorted.
#[doc(hidden)]
#[distributed_slice]
pub static REGISTRATIONS: [&'static [Registration]];

/// One annotated function: constants from the source, and its types through [`Callable`].
///
/// The macros emit one per tool, so it is small: rarely used data is behind references.
pub struct Registration {
    /// The tool's name, such as `metrics.newest`.
    pub name: &'static str,
    /// The path of the function, as [`module_path!`] and the item give it.
    pub handler: &'static str,
    /// The description from the doc comment or the attribute.
    pub description: &'static str,
    /// The source location of the attribute.
    pub source: Source,
    /// The arguments that the model passes, in the order of the signature.
    pub arguments: &'static [ArgumentSpec],
    /// The other settings of the attribute.
    pub options: &'static Options,
    /// The function to call.
    pub call: &'static dyn Callable,
}

/// The callable behind a registration. The runtime knows how to call it; the callable knows its own types.
pub trait Callable: Any + Send + Sync {
    /// Returns the types of the arguments, in the order of the signature, and of the result.
    fn types(&self) -> Types;
}

impl fmt::Debug for dyn Callable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callable")
    }
}

/// The types of a function's arguments and result.
#[derive(Default)]
pub struct Types {
    /// The arguments, in the order of the signature.
    pub arguments: Vec<ArgumentType>,
    /// The type of a successful result, if it has a schema.
    pub returns: Option<ReturnType>,
}

impl Types {
    /// Returns `true` if every argument is a number, a boolean, a string or a list of these from the standard library.
    /// The schemas of those types enforce everything that the types do.
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

/// The settings of an attribute besides name, description and arguments.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The values of [keys](crate::KEYS), by name.
    pub keys: &'static [(&'static str, KeyValue)],
    /// The content of `arguments(..)` as JSON text; it replaces the inferred arguments.
    pub explicit: Option<&'static str>,
    /// `preview`: the function that describes what a call would do, with the same arguments.
    pub preview: Option<&'static dyn Callable>,
    /// `manual`: offered only by a dispatcher that was given the service.
    pub manual: bool,
}

impl Options {
    /// No settings.
    pub const NONE: Self = Self { keys: &[], explicit: None, preview: None, manual: false };

    /// Returns the value of a key.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<KeyValue> {
        self.keys.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }
}

impl Registration {
    /// Returns the definition of the tool, as in the manifest.
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

/// The source location of an attribute.
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

/// One argument as declared in the source.
#[derive(Debug)]
pub struct ArgumentSpec {
    /// The name that the model uses.
    pub name: &'static str,
    /// The description, or an empty string.
    pub description: &'static str,
    /// The other settings of `#[arg(..)]`.
    pub details: &'static ArgumentDetails,
}

/// The settings of `#[arg(..)]` besides name and description.
#[derive(Clone, Copy, Debug)]
pub struct ArgumentDetails {
    /// The default value as JSON text, from `default = ..`.
    pub default: Option<&'static str>,
    /// `true` if a bare `default` makes the argument optional.
    pub or_default: bool,
    /// `alias`: other names that calls may use.
    pub aliases: &'static [&'static str],
    /// The constraints on the value.
    pub rules: &'static [Rule],
    /// `secret`
    pub secret: bool,
    /// `any`: parts of the type without a schema are intended.
    pub any: bool,
}

impl ArgumentDetails {
    /// No settings.
    pub const NONE: Self =
        Self { default: None, or_default: false, aliases: &[], rules: &[], secret: false, any: false };
}

/// Returns all linked tools, sorted by name, then by handler, then by source: two versions of a crate have the same
/// handlers.
#[must_use]
pub fn registrations() -> Vec<&'static Registration> {
    let mut all: Vec<_> = REGISTRATIONS.iter().flat_map(|item| item.iter()).collect();
    all.sort_unstable_by_key(|tool| (tool.name, tool.handler, tool.source.file, tool.source.line));
    all
}
