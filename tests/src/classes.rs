//! Every key of `#[tool_class(..)]`, and the rules for which methods are tools.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::{tool, tool_class};

use crate::options::{Repository, Session};

/// The prefix follows from the type's name.
pub struct SystemPackagesService;

#[tool_class(per_call)]
impl SystemPackagesService {
    /// Not a tool either.
    pub const LIMIT: usize = 3;

    pub fn new() -> Self {
        Self
    }

    /// Public methods are tools.
    pub fn listed(&self) -> usize {
        Self::LIMIT
    }

    /// Marked methods are tools though they are not public.
    #[tool]
    fn marked(&self) -> bool {
        self.hidden()
    }

    /// Private methods are none.
    fn hidden(&self) -> bool {
        true
    }

    /// Neither are those of the crate.
    pub(crate) fn of_the_crate(&self) -> bool {
        self.hidden()
    }

    /// Skipped.
    #[tool(skip)]
    pub fn skipped(&self) -> bool {
        self.of_the_crate()
    }

    /// Not skipped.
    #[tool(skip = false)]
    pub fn not_skipped(&self) -> bool {
        self.marked()
    }

    /// Compiled never.
    #[cfg(any())]
    pub fn never(&self, missing: Missing) {}

    /// Compiled always.
    #[cfg(all())]
    pub fn always(&self) -> &str {
        "always"
    }

    /// Renamed.
    #[tool(name = "packages.renamed")]
    pub fn called_otherwise(&self) {}

    /// A keyword.
    pub fn r#loop(&self, r#in: u8) -> u8 {
        r#in
    }
}

/// Capitals in a row.
pub struct HTTPClient;

#[tool_class]
impl HTTPClient {
    /// Without an instance.
    pub fn get(path: &str) -> String {
        path.to_owned()
    }
}

pub struct Included;

#[tool_class(prefix = "included", include = ["one", "private"])]
impl Included {
    /// Named.
    pub fn one() -> u8 {
        1
    }

    /// Not named.
    pub fn two() -> u8 {
        Self::private() + 1
    }

    /// Named, though private.
    fn private() -> u8 {
        1
    }
}

pub struct Excluded;

#[tool_class(prefix = "excluded", exclude = ["two"])]
impl Excluded {
    /// Not excluded.
    pub fn one() -> u8 {
        1
    }

    /// Excluded.
    pub fn two() -> u8 {
        2
    }
}

pub struct Unprefixed;

#[tool_class(prefix = "", per_call)]
impl Unprefixed {
    /// The method's name alone.
    pub fn unprefixed_method(&self, text: &str) -> String {
        text.to_owned()
    }

    pub fn new() -> Result<Self, String> {
        Ok(Self)
    }
}

/// Keys of a class that apply to all methods.
pub struct Everything {
    session: Session,
}

#[tool_class(
    prefix = "everything.at-once",
    category = "general",
    tags = ["all", "read"],
    sensitive,
    inject = ["ping_host"]
)]
impl Everything {
    /// Its parameter is injected.
    pub async fn new(session: Session) -> Self {
        Self { session }
    }

    /// As the class says.
    pub fn plain(&self, ping_host: &str, text: &str) -> String {
        format!("{} {ping_host} {text}", self.session.0)
    }

    /// Adds and overrides.
    #[tool(tags = ["write", "read"], sensitive = false, category = "special", destructive, inject = ["number"])]
    pub async fn special(&self, number: u64, repository: Repository, text: &str) -> String {
        format!("{number} {} {text}", repository.0)
    }
}

/// A type with parameters, one of whose forms has tools.
pub struct Store<B>(pub B);

/// Kept in memory.
pub struct Memory;

#[tool_class(per_call)]
impl Store<Memory> {
    pub fn new() -> Self {
        Self(Memory)
    }

    /// Of one form only.
    pub fn size(&self) -> usize {
        std::mem::size_of_val(&self.0)
    }
}

pub mod nested {
    pub struct Deep;
}

#[tool_class]
impl nested::Deep {
    /// Of a type in another module.
    pub fn found() -> &'static str {
        "found"
    }
}

/// Offered only where it is given to a dispatcher.
pub struct ManualService;

#[tool_class(manual)]
impl ManualService {
    /// Offered by hand.
    pub fn run(&self) -> &'static str {
        "by hand"
    }
}

/// Enums are types as well.
pub enum Switch {
    On,
}

#[tool_class(per_call)]
impl Switch {
    pub fn new() -> Self {
        Self::On
    }

    /// Return whether it is on.
    pub fn is_on(&self) -> bool {
        matches!(self, Self::On)
    }
}

/// An argument of its own methods.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Offset {
    pub by: i32,
}

#[tool_class(per_call)]
impl Offset {
    pub fn new() -> Self {
        Self { by: 1 }
    }

    /// `Self` in a signature.
    pub fn plus(&self, one: Self, lent: &Self, many: Vec<Self>, maybe: Option<&Self>) -> Self {
        let all = [self, &one, lent].into_iter().chain(&many).chain(maybe);
        Self { by: all.fold(0, |sum, offset| sum.wrapping_add(offset.by)) }
    }

    /// `Self` in a result.
    pub async fn checked(self, most: i32) -> Result<Self, String> {
        if self.by > most { Err(format!("{} is more than {most}", self.by)) } else { Ok(self) }
    }
}

/// Exports what is marked.
pub struct Reluctant;

#[tool_class(opt_in, prefix = "reluctant")]
impl Reluctant {
    /// Marked.
    #[tool]
    pub fn offered() -> &'static str {
        "offered"
    }

    /// Marked and private.
    #[tool(destructive)]
    fn private() -> &'static str {
        "private"
    }

    /// Only for use in tests.
    pub fn reset_database() {}
}

/// Exports what is marked, as a trait does.
#[tool_class(opt_in, prefix = "reluctant_trait")]
pub trait ReluctantTrait: Send + Sync {
    /// Marked.
    #[tool]
    fn offered(&self) -> &'static str;

    /// Not marked.
    fn kept(&self) {}
}

impl ReluctantTrait for Reluctant {
    fn offered(&self) -> &'static str {
        "of a trait"
    }
}

/// Exports what is marked in the implementation of a trait.
pub trait Kept {
    fn offered(&self) -> &'static str;

    fn kept(&self);
}

#[tool_class(opt_in, prefix = "reluctant_impl")]
impl Kept for Reluctant {
    /// Marked.
    #[tool]
    fn offered(&self) -> &'static str {
        "of an implementation"
    }

    fn kept(&self) {}
}

/// Functions without a receiver that return an instance are not tools.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Constructed(pub u8);

#[tool_class(prefix = "constructed", per_call)]
impl Constructed {
    pub fn new() -> Self {
        Self(0)
    }

    pub fn open() -> Result<Arc<Self>, String> {
        Ok(Arc::new(Self(1)))
    }

    pub async fn connect() -> Option<Box<Constructed>> {
        None
    }

    pub fn later() -> impl Future<Output = std::io::Result<Self>> + Send {
        async { Ok(Self(2)) }
    }

    pub fn pair() -> (Self, u8) {
        (Self(3), 3)
    }

    /// A list is data.
    pub fn all() -> Vec<Self> {
        vec![Self(4)]
    }

    /// A method may return another instance.
    #[must_use]
    pub fn next(&self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}
