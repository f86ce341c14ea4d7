//! Shadowed names of the prelude.

use rt::{tool, tool_class};

/// Not the usual one.
#[derive(Clone, Copy, Debug)]
pub struct Option;

/// Not the usual one.
#[derive(Clone, Copy, Debug)]
pub struct Result;

/// Not the usual one.
#[derive(Clone, Copy, Debug)]
pub struct String;

/// Not the usual one.
#[derive(Clone, Copy, Debug)]
pub struct Vec;

/// Not the usual one.
#[derive(Clone, Copy, Debug)]
pub struct Box;

/// Not the usual variants.
#[allow(non_snake_case, missing_docs)]
pub mod variants {
    pub struct Some;
    pub struct None;
    pub struct Ok;
    pub struct Err;
}
#[allow(unused_imports)]
use variants::{Err, None, Ok, Some};

/// Names of other crates that are modules here.
pub mod tool_runtime {}
/// As above.
pub mod serde {}
/// As above.
pub mod linkme {}
/// As above.
pub mod std {}
/// As above.
pub mod core {}

/// Takes what the standard library calls by these names.
#[tool(name = "shadowed.plain")]
#[must_use]
pub fn plain(text: ::std::string::String, number: ::std::option::Option<u8>) -> ::std::string::String {
    ::std::format!("{text} {number:?}")
}

/// Converts its arguments and its result.
#[tool(name = "shadowed.converted", result = display)]
#[must_use]
pub fn converted(
    #[arg(parse)] number: ::std::option::Option<u8>,
    #[arg(via(u8))] all: ::std::vec::Vec<u16>,
) -> ::std::option::Option<::std::vec::Vec<u16>> {
    number.map(|number| all.iter().map(|other| u16::from(number).saturating_add(*other)).collect())
}

/// A service.
#[derive(Clone, Copy, Debug)]
pub struct ShadowedService;

#[tool_class(per_call)]
impl ShadowedService {
    /// Makes one, by hand.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }

    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub async fn fail(&self, text: &str) -> ::std::result::Result<(), ::std::string::String> {
        let _ = self;
        ::std::result::Result::Err(text.to_owned())
    }

    /// Takes a session.
    #[must_use]
    pub fn with(&self, #[inject] session: &mut ::std::string::String) -> usize {
        let _ = self;
        session.push('!');
        session.len()
    }
}
