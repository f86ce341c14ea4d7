//! Adoption of existing code: the `impl` blocks and traits that could become tool classes, and what their methods need.
//!
//! [`Scan::adopt`](crate::Scan::adopt) reads the sources without compiling them. The attributes' own parser judges each
//! method by itself, so one unfit method does not hide the others. The traits of argument and result types come from
//! their derives and `impl`s, also in the sources of registry packages ([`DependencySources`]).
//!
//! ```no_run
//! use tool_gen::adopt::{AnnotationStyle, DependencySources};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let dependencies = DependencySources::resolve("Cargo.toml".as_ref())?;
//! let report = tool_gen::scan("src/lib.rs").adopt(&dependencies, &[])?;
//! for class in &report.classes {
//!     let fitting = class.methods.iter().filter(|method| method.fit.is_fit()).count();
//!     println!("{}: {fitting} of {} methods fit", class.header, class.methods.len());
//! }
//! for edit in report.edits(&["OrderService".to_owned()], AnnotationStyle::OptIn)? {
//!     std::fs::write(edit.file, edit.text)?;
//! }
//! # Ok(())
//! # }
//! ```

mod class;
mod dependencies;
mod edit;
mod generics;
mod instance;
mod macro_types;
mod method;
mod result;
mod send;
mod traits;

use std::collections::BTreeMap;

use proc_macro2::LineColumn;
use serde::{Serialize, Serializer};

pub(crate) use class::read;
pub use dependencies::DependencySources;
pub use edit::{AnnotationStyle, FileEdit};

use crate::{Diagnostic, SourcePlace};

/// The candidates of the scanned crates.
#[derive(Debug)]
pub struct AdoptReport {
    /// The `impl` blocks and traits, in the order of files and lines.
    pub classes: Vec<ClassCandidate>,
    /// Files that could not be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// An `impl` block or a trait that could become a tool class.
#[derive(Clone, Debug, Serialize)]
pub struct ClassCandidate {
    /// The name of the type or trait.
    pub name: String,
    /// The kind of item.
    pub kind: CandidateKind,
    /// The first line of the item, such as `impl<S: Storage> Replica<S>`.
    pub header: String,
    /// Its place.
    #[serde(serialize_with = "file_and_line")]
    pub place: SourcePlace,
    /// `true` if the type or trait is `pub`.
    pub is_public: bool,
    /// The role of its type.
    pub role: TypeRole,
    /// `true` if its type borrows, so that `new` builds it for each call.
    pub is_borrowing: bool,
    /// `true` if it is a tool class already.
    pub is_annotated: bool,
    /// Keys of `#[tool_class(..)]` that it needs.
    pub keys: Vec<String>,
    /// Problems of the class as a whole. Its methods cannot be tools until they are solved.
    pub findings: Vec<AdoptFinding>,
    /// Its public methods.
    pub methods: Vec<MethodCandidate>,
    #[serde(skip)]
    placeholders: bool,
    #[serde(skip)]
    at: EditPlace,
}

/// The kinds of candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CandidateKind {
    /// `impl Type`
    Inherent,
    /// `impl Trait for Type`
    TraitImpl,
    /// `trait Name`
    Trait,
}

/// The roles of types. Only services are annotated unless a class is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TypeRole {
    /// A type that does something.
    Service,
    /// A type that is built step by step: most of its methods return it.
    Builder,
    /// A value: an enum, an error, or a type that is serialized.
    Data,
}

/// A public method of a candidate.
#[derive(Clone, Debug, Serialize)]
pub struct MethodCandidate {
    /// Its name.
    pub name: String,
    /// Its place.
    #[serde(serialize_with = "file_and_line")]
    pub place: SourcePlace,
    /// The verdict.
    pub fit: Fit,
    /// `true` if it takes `&mut self`, for which the service is passed to `.service_mut(..)`.
    pub is_exclusive: bool,
    /// The reasons for the verdict, with remedies.
    pub findings: Vec<AdoptFinding>,
    /// Keys of `#[tool(..)]` that it needs.
    pub keys: Vec<String>,
    /// The attributes that its parameters need, by name.
    pub parameters: BTreeMap<String, String>,
    #[serde(skip)]
    placeholders: bool,
    #[serde(skip)]
    at: EditPlace,
    #[serde(skip)]
    parameter_places: BTreeMap<String, LineColumn>,
    /// The doc lines that describe no parameter, counted from 1.
    #[serde(skip)]
    stale_lines: Vec<usize>,
}

/// The verdict on a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// A tool as it is.
    Unchanged,
    /// A tool with attributes, and without doc lines that describe no parameter.
    Attributes,
    /// A tool with attributes that name a conversion function, which is still to be written.
    Conversion,
    /// Depends on a type whose definition is not in the sources.
    Unknown,
    /// Not a tool without other changes.
    Unfit,
    /// A function without a receiver that returns the type itself. It is never a tool.
    Constructor,
    /// A method that returns the type itself. It configures the value and is no operation.
    Setter,
    /// A tool already.
    Annotated,
}

/// A reason for a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdoptFinding {
    /// The kind of reason, for counting.
    pub reason: AdoptReason,
    /// The explanation.
    pub message: String,
    /// The remedy.
    pub remedy: String,
}

/// The kinds of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AdoptReason {
    /// The argument's type implements neither `Deserialize` nor `FromStr`.
    ArgumentType,
    /// The definition of the argument's type is not in the sources.
    UnknownArgument,
    /// The argument is a closure.
    Closure,
    /// The method is generic in a form that is not supported.
    GenericMethod,
    /// The method is generic and needs `generics(..)`.
    Generics,
    /// The parameter's form is not supported: `impl Trait`, nested references, patterns.
    ArgumentForm,
    /// The parameter is injected.
    Injected,
    /// The argument is converted from another type.
    Converted,
    /// The result is shown as text.
    ResultAsText,
    /// The result does not implement `Serialize`.
    ResultType,
    /// The definition of the result's type is not in the sources.
    UnknownResult,
    /// The result is `impl Trait`.
    OpaqueResult,
    /// The result has methods of its own and is no data.
    ReturnsService,
    /// The error implements neither `Display` nor `Debug`.
    ErrorType,
    /// The doc comment describes names under `# Arguments` that are no parameters. Their lines are removed.
    StaleDocumentation,
    /// The doc comment is wrong in another way.
    Documentation,
    /// The receiver or the function itself cannot be called: `unsafe`, `self: Box<Self>`.
    Signature,
    /// The class is generic and needs `instances(..)`.
    Instances,
    /// The class borrows, and its `new` stands in another block or takes `impl Into<T>`.
    Constructor,
    /// The error is shown as text.
    ErrorAsText,
    /// The class borrows, and has no `new` that takes the borrowed values.
    Borrows,
    /// The trait cannot be a trait object.
    NotDynCompatible,
    /// The trait, or a trait object that would be injected, is not `Send`.
    NotShared,
    /// The method destroys something, by its name.
    Destructive,
    /// The method is documented as one for tests.
    ForTests,
    /// The class cannot be read for another reason.
    Class,
}

impl AdoptReason {
    /// Returns `true` if attributes are enough, apart from doc lines that describe no parameter.
    #[must_use]
    pub fn is_attribute(self) -> bool {
        matches!(
            self,
            Self::Injected
                | Self::Converted
                | Self::ResultAsText
                | Self::ErrorAsText
                | Self::Instances
                | Self::Generics
                | Self::Constructor
                | Self::Destructive
                | Self::StaleDocumentation
        )
    }

    fn is_conversion(self) -> bool {
        matches!(self, Self::ArgumentType | Self::ResultType)
    }

    fn is_unknown(self) -> bool {
        matches!(self, Self::UnknownArgument | Self::UnknownResult)
    }
}

impl Fit {
    /// Returns `true` for a method that can be a tool, at most with attributes.
    #[must_use]
    pub fn is_fit(self) -> bool {
        matches!(self, Self::Unchanged | Self::Attributes)
    }

    /// Returns the verdict that follows from the reasons.
    fn from_findings<'f>(findings: impl IntoIterator<Item = &'f AdoptFinding>) -> Self {
        findings.into_iter().fold(Self::Unchanged, |fit, finding| {
            let own = match finding.reason {
                reason if reason.is_attribute() => Self::Attributes,
                reason if reason.is_conversion() => Self::Conversion,
                reason if reason.is_unknown() => Self::Unknown,
                _ => Self::Unfit,
            };
            fit.max(own)
        })
    }
}

impl AdoptFinding {
    fn new(reason: AdoptReason, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { reason, message: message.into(), remedy: remedy.into() }
    }
}

/// The place in a file where attributes of an item are inserted: before its first token that is no attribute.
#[derive(Clone, Copy, Debug)]
struct EditPlace(LineColumn);

fn file_and_line<S: Serializer>(place: &SourcePlace, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{}:{}", place.file.display(), place.line))
}
