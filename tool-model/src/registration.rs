//! A tool as the macros leave it in the binary, and the linkme slice that collects them.

use std::any::Any;
use std::fmt;

use linkme::distributed_slice;

use crate::{ArgumentType, Rule, ToolDefinition, TypeSchema};

/// Every tool of every linked crate. Each element holds the tools of one annotated item.
///
/// The linker decides the order: use [`registrations`], which sorts.
#[doc(hidden)]
#[distributed_slice]
pub static REGISTRATIONS: [&'static [Registration]];

/// One annotated function: what the source says as constants, what the types say as functions.
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
    /// What the type system knows of [`arguments`](Self::arguments), in the same order.
    pub types: fn() -> Vec<ArgumentType>,
    /// The type of a successful result, where it has a schema.
    pub returns: fn() -> Option<TypeSchema>,
    /// The text of `arguments(..)` as a JSON object; it replaces what is inferred.
    pub explicit: Option<&'static str>,
    /// `category`, or empty.
    pub category: &'static str,
    /// `tags`, those of the class first.
    pub tags: &'static [&'static str],
    /// `instructions`, or empty.
    pub instructions: &'static str,
    /// `sensitive`
    pub sensitive: bool,
    /// `read_only`
    pub read_only: bool,
    /// `destructive`
    pub destructive: bool,
    /// `idempotent`
    pub idempotent: bool,
    /// `blocking`: runs on a thread that may block.
    pub blocking: bool,
    /// `sequential`
    pub sequential: bool,
    /// `strict`
    pub strict: Option<bool>,
    /// `repair`
    pub repair: Option<bool>,
    /// `timeout` in milliseconds.
    pub timeout_ms: Option<u64>,
    /// `preview`: the method that says what a call would do.
    pub preview: Option<&'static str>,
    /// `manual`: offered only by a dispatcher that is given the service.
    pub manual: bool,
    /// How the tool is called; only the runtime knows what stands here.
    pub call: &'static (dyn Any + Send + Sync),
}

impl Registration {
    /// A tool of which only the necessary is said; the macros set the rest by struct update.
    #[must_use]
    pub const fn new(
        name: &'static str,
        handler: &'static str,
        description: &'static str,
        source: Source,
        call: &'static (dyn Any + Send + Sync),
    ) -> Self {
        Self {
            name,
            handler,
            description,
            source,
            arguments: &[],
            types: Vec::new,
            returns: || None,
            explicit: None,
            category: "",
            tags: &[],
            instructions: "",
            sensitive: false,
            read_only: false,
            destructive: false,
            idempotent: false,
            blocking: false,
            sequential: false,
            strict: None,
            repair: None,
            timeout_ms: None,
            preview: None,
            manual: false,
            call,
        }
    }

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
    /// The text of its default as JSON, from `#[arg(default = ..)]`.
    pub default: Option<&'static str>,
    /// Whether a bare `#[arg(default)]` makes it optional.
    pub or_default: bool,
    /// The demands of `#[arg(..)]`.
    pub rules: &'static [Rule],
    /// `#[arg(secret)]`
    pub secret: bool,
}

impl ArgumentSpec {
    /// An argument of which nothing but its name is said; the macros set the rest by struct update.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, description: "", default: None, or_default: false, rules: &[], secret: false }
    }
}

/// All linked tools, sorted by name and then by handler.
#[must_use]
pub fn registrations() -> Vec<&'static Registration> {
    let mut all: Vec<_> = REGISTRATIONS.iter().flat_map(|item| item.iter()).collect();
    all.sort_unstable_by_key(|tool| (tool.name, tool.handler));
    all
}
