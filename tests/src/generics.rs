//! Generic functions and methods whose types the attribute names, and `impl Trait` inside of other types.

use std::collections::BTreeMap;
use std::fmt::Debug;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tool_runtime::{tool, tool_class, tools};

/// Reports how far a job is.
pub trait Progress: Send + Sync {
    /// The unit of the report.
    type Unit: Serialize;

    /// Reports a position.
    fn report(&self, at: u32) -> Self::Unit;
}

/// Reports percentages.
#[derive(Clone, Debug)]
pub struct Percent(pub u32);

impl Progress for Percent {
    type Unit = String;

    fn report(&self, at: u32) -> String {
        format!("{at} of {}", self.0)
    }
}

/// A position on a map.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq)]
pub struct Place {
    /// Degrees to the north.
    pub north: i16,
    /// Degrees to the east.
    pub east: i16,
}

/// The type of the result is named, too.
#[tool(name = "generics.decoded", generics(T = Place))]
pub fn decoded<T: DeserializeOwned + Debug>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

/// A named type beside one that is inferred, and a constant.
#[tool(name = "generics.windows", generics(T = u8, N = 2))]
pub fn windows<S: AsRef<str>, T: Default + Copy + Into<u32>, const N: usize>(label: S, values: Vec<T>) -> String {
    let mut window = [T::default(); N];
    window.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    format!("{} {}", label.as_ref(), window.into_iter().map(Into::into).sum::<u32>())
}

/// An `impl Trait` is named by its parameter.
#[tool(name = "generics.reported", generics(percent = Percent))]
pub fn reported(#[inject] percent: &impl Progress<Unit = String>, at: u32) -> String {
    percent.report(at)
}

/// Iterators of values, of references and with a length, and one that is a type parameter.
#[tool(name = "generics.iterators")]
pub fn iterators<'a, I: Iterator<Item = i16>>(
    numbers: impl Iterator<Item = u16>,
    words: impl Iterator<Item = &'a str>,
    names: impl ExactSizeIterator<Item = impl Into<String>>,
    mut places: impl DoubleEndedIterator<Item = Place>,
    signed: I,
) -> String {
    let sum: u64 = numbers.map(u64::from).sum();
    let count = names.len();
    let names: Vec<String> = names.map(Into::into).collect();
    let last = places.next_back().unwrap_or_default();
    let signed: i64 = signed.map(i64::from).sum();
    format!("{sum} {} {count} {} {} {signed}", words.collect::<Vec<_>>().join("+"), names.join("+"), last.north)
}

/// Types that are decoded inside of others.
#[tool(name = "generics.nested")]
pub fn nested<S: AsRef<str>, T: Serialize>(
    ids: &[S],
    bytes: &impl AsRef<[u8]>,
    extra: Option<&BTreeMap<String, T>>,
    pairs: Vec<(impl Into<String>, u8)>,
) -> String {
    let ids: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
    let extra = serde_json::to_string(&extra).unwrap_or_default();
    let pairs: Vec<String> = pairs.into_iter().map(|(name, count)| format!("{}{count}", name.into())).collect();
    format!("{} {} {extra} {}", ids.join("+"), bytes.as_ref().len(), pairs.join("+"))
}

/// A service with generic methods.
pub struct Survey;

#[tool_class]
impl Survey {
    /// The associated type of a parameter is the result.
    #[tool(generics(P = Percent))]
    pub fn progress<P>(&self, #[inject] percent: &P, at: u32) -> P::Unit
    where
        P: Progress,
    {
        percent.report(at)
    }

    /// Awaited, with a lifetime and an `impl Trait` that is inferred.
    #[tool(generics(T = Place))]
    #[allow(clippy::needless_lifetimes)]
    pub async fn stored<'a, T: Serialize + DeserializeOwned>(
        &self,
        name: &'a str,
        value: T,
        tag: impl Into<String>,
    ) -> Result<T, String> {
        let text = serde_json::to_string(&value).map_err(|error| error.to_string())?;
        if name.is_empty() { Err(tag.into()) } else { serde_json::from_str(&text).map_err(|error| error.to_string()) }
    }
}

/// A generic method of a trait.
pub trait Atlas {
    /// Counts the entries of a type.
    fn entries<T: Default + Serialize>(&self, count: u8) -> Vec<T>;
}

#[tool_class(prefix = "atlas")]
impl Atlas for Survey {
    /// Lists empty entries.
    #[tool(generics(T = Place))]
    fn entries<T: Default + Serialize>(&self, count: u8) -> Vec<T> {
        (0..count).map(|_| T::default()).collect()
    }
}

/// A type of another crate.
pub mod foreign {
    /// A parser.
    pub struct Parser;

    impl Parser {
        /// Parses a text.
        pub fn parse<T: std::str::FromStr>(&self, text: &str) -> Option<T> {
            text.parse().ok()
        }
    }
}

tools! {
    impl foreign::Parser as "parser" {
        /// Parse a number.
        #[tool(generics(T = u32))]
        fn parse<T: std::str::FromStr>(&self, text: &str) -> Option<T>;
    }
}
