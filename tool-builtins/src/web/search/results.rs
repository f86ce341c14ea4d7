//! What was found.

use std::fmt;

use serde::Serialize;
use url::Url;

use super::Query;

/// A page that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Found {
    /// Its title.
    pub title: String,
    /// Where it is.
    pub url: String,
    /// What it says about the query.
    pub snippet: String,
    /// When it was written, as the provider has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age: Option<String>,
}

impl Found {
    /// A page of unknown age.
    #[must_use]
    pub fn new(title: &str, url: &str, snippet: &str) -> Self {
        Self { title: one_line(title), url: url.to_owned(), snippet: one_line(snippet), age: None }
    }

    /// When it was written.
    #[must_use]
    pub fn age(mut self, age: Option<&str>) -> Self {
        self.age = age.map(one_line).filter(|age| !age.is_empty());
        self
    }

    /// Only what can be fetched is of use.
    fn is_page(&self) -> bool {
        Url::parse(&self.url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
    }
}

/// Text without line ends, so that no result can pass for several.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The results of a query, for the model (`Display`) and for the interface.
#[derive(Debug, Serialize)]
pub(in crate::web) struct Results {
    provider: String,
    query: String,
    results: Vec<Found>,
}

impl Results {
    pub(in crate::web) fn new(provider: &str, query: Query, mut found: Vec<Found>) -> Self {
        found.retain(Found::is_page);
        found.truncate(query.max_results);
        Self { provider: provider.to_owned(), query: query.text, results: found }
    }
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { provider, query, results } = self;
        match results.len() {
            0 => return write!(f, "{provider} found nothing for {query:?}. Try fewer or other words."),
            1 => writeln!(f, "1 result of {provider} for {query:?}:")?,
            count => writeln!(f, "{count} results of {provider} for {query:?}:")?,
        }
        for (index, Found { title, url, snippet, age }) in results.iter().enumerate() {
            let title = if title.is_empty() { "(without a title)" } else { title };
            write!(f, "\n{}. {title}\n   {url}", index + 1)?;
            if let Some(age) = age {
                write!(f, "\n   {age}")?;
            }
            if !snippet.is_empty() {
                write!(f, "\n   {snippet}")?;
            }
        }
        Ok(())
    }
}
