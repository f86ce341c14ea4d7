//! A page as the model and the interface get it.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tool_runtime::display::thousands;
use url::Url;

use super::charset::decode;
use super::content::Kind;
use super::error::{FetchError, Refusal};
use super::fetch::Fetched;
use super::html::{Rendered, Style, render};
use crate::count::counted;

/// How a page is written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Headings, lists, links and tables in Markdown.
    #[default]
    Markdown,
    /// The words alone.
    Text,
    /// The source.
    Html,
}

/// A page that was read.
#[derive(Debug)]
pub(super) struct Page {
    url: Url,
    redirects: Vec<Url>,
    status: String,
    kind: String,
    title: Option<String>,
    text: String,
    /// How many characters beside the content were left out.
    left_out: usize,
    bytes: usize,
    cut: bool,
}

/// How long the text of a page is worked on. A page that was not made to be slow takes a hundredth of it.
const PATIENCE: Duration = Duration::from_secs(5);

impl Page {
    /// Reads what was fetched, on a thread of its own: it is work, not waiting. Dropped, it stops.
    pub(super) async fn read(fetched: Fetched, format: Format) -> Result<Self, FetchError> {
        let stopped = Stopped::default();
        let flag = stopped.0.clone();
        let read = tokio::task::spawn_blocking(move || {
            let began = Instant::now();
            Self::from_fetched(fetched, format, || flag.load(Ordering::Relaxed) || began.elapsed() > PATIENCE)
        });
        read.await.unwrap_or_else(|_| Err(FetchError::Connection("it cannot be read".to_owned())))
    }

    fn from_fetched(fetched: Fetched, format: Format, stop: impl Fn() -> bool) -> Result<Self, FetchError> {
        let Fetched { url, redirects, status, content_type, bytes, cut } = fetched;
        let length = (!cut).then_some(bytes.len() as u64);
        let kind = content_type.kind_of(&bytes).map_err(|kind| FetchError::Binary { kind, length })?;
        let (source, charset) = decode(&bytes, cut, content_type.charset);
        let style = match format {
            Format::Markdown => Some(Style::Markdown),
            Format::Text => Some(Style::Text),
            Format::Html => None,
        };
        let rendered = style.filter(|_| kind == Kind::Html).map(|style| render(&source, &url, style, stop));
        let (title, text, left_out, cut) = match rendered {
            Some(Rendered { title, text, left_out, cut: is_cut }) => (title, text, left_out, cut || is_cut),
            None => (None, source, 0, cut),
        };
        let essence = if content_type.essence.is_empty() { "of no type" } else { &content_type.essence };
        let kind = format!("{essence}, {charset}");
        Ok(Self { url, redirects, status: status.to_string(), kind, title, text, left_out, bytes: bytes.len(), cut })
    }

    /// A part of the page, in characters, with what there is to know about it.
    pub(super) fn part(&self, start: usize, most: usize) -> Result<Part<'_>, FetchError> {
        let length = self.text.chars().count();
        if start > 0 && start >= length {
            return Err(FetchError::PastEnd { length });
        }
        let place = |count: usize| self.text.char_indices().nth(count).map_or(self.text.len(), |(place, _)| place);
        let end = start.saturating_add(most).min(length);
        Ok(Part { page: self, text: &self.text[place(start)..place(end)], start, end, length })
    }
}

/// A part of a page.
pub(super) struct Part<'a> {
    page: &'a Page,
    text: &'a str,
    start: usize,
    end: usize,
    length: usize,
}

impl Part<'_> {
    /// What the model reads: a few lines about the page, then the page.
    pub(super) fn to_output(&self) -> String {
        let Page { url, redirects, status, kind, title, left_out, cut, .. } = self.page;
        let mut output = format!("URL: {url}\n");
        // What is written to a `String` cannot fail.
        if let Some(first) = redirects.first() {
            _ = writeln!(output, "Redirected from: {first}");
        }
        _ = writeln!(output, "Status: {status}\nType: {kind}");
        if let Some(title) = title {
            _ = writeln!(output, "Title: {title}");
        }
        _ = writeln!(output, "Length: {}", self.length_in_words());
        if *left_out > 0 {
            let left_out = counted(*left_out, "character");
            _ = writeln!(
                output,
                "Left out: {left_out} around the content, such as navigation; `format` = \"html\" has all."
            );
        }
        if *cut {
            output.push_str("The page goes on after that, but is too long, or too deeply nested, to be read whole.\n");
        }
        output.push('\n');
        output.push_str(self.text);
        output
    }

    fn length_in_words(&self) -> String {
        let length = counted(self.length, "character");
        let [start, end] = [self.start, self.end].map(thousands);
        match (self.start, self.end == self.length) {
            (0, true) => length,
            (_, true) => format!("{length}, of which these are the last, from {start}"),
            (_, false) => {
                format!("{length}, of which these are {start} to {end}; go on with `start` = {}", self.end)
            }
        }
    }

    /// What an interface shows.
    pub(super) fn to_metadata(&self) -> Value {
        let Page { url, redirects, status, kind, title, bytes, cut, .. } = self.page;
        json!({
            "url": url,
            "redirects": redirects,
            "status": status,
            "content_type": kind,
            "title": title,
            "bytes": bytes,
            "characters": self.length,
            "start": self.start,
            "end": self.end,
            "next": (self.end < self.length).then_some(self.end),
            "cut": cut,
        })
    }
}

impl Fetched {
    /// An answer that refuses, with the beginning of what it says.
    pub(super) fn into_refusal(self, retry_after: Option<String>) -> FetchError {
        let (url, status) = (self.url.clone(), self.status.to_string());
        let began = Instant::now();
        let said = Page::from_fetched(Self { bytes: beginning(self.bytes), ..self }, Format::Text, || {
            began.elapsed() > PATIENCE
        });
        let said = said.map(|page| page.text.chars().take(SAID).collect()).unwrap_or_default();
        FetchError::Refusal(Box::new(Refusal { url, status, retry_after, said }))
    }
}

/// How many characters of a refusal the model reads.
const SAID: usize = 500;

/// Enough of a refusal to find its words.
fn beginning(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(20_000);
    bytes
}

/// Says that nobody waits any more.
#[derive(Default)]
struct Stopped(Arc<AtomicBool>);

impl Drop for Stopped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
