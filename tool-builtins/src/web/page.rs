//! A fetched page as text and metadata.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tool_runtime::display::thousands;
use url::Url;

use super::content::{ContentKind, decode};
use super::error::{ErrorResponse, FetchError};
use super::fetch::FetchedPage;
use super::html::{RenderStyle, RenderedPage, render};
use crate::count::format_count;

/// The output format of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PageFormat {
    /// Markdown with headings, lists, links and tables.
    #[default]
    Markdown,
    /// Plain text.
    Text,
    /// The HTML source.
    Html,
}

/// A page, converted to text.
#[derive(Debug)]
pub(super) struct WebPage {
    url: Url,
    redirects: Vec<Url>,
    status: String,
    kind: String,
    title: Option<String>,
    text: String,
    /// The number of characters left out around the content.
    left_out: usize,
    bytes: usize,
    cut: bool,
}

/// The time limit for converting a page. An ordinary page needs a hundredth of it.
const CONVERSION_TIMEOUT: Duration = Duration::from_secs(5);

impl WebPage {
    /// Converts a fetched page on a blocking thread, since that is CPU-bound. Dropping the future stops the conversion.
    pub(super) async fn read(fetched: FetchedPage, format: PageFormat) -> Result<Self, FetchError> {
        let guard = ConversionGuard::default();
        let flag = guard.0.clone();
        let read = tokio::task::spawn_blocking(move || {
            let started = Instant::now();
            Self::from_fetched(fetched, format, || {
                flag.load(Ordering::Relaxed) || started.elapsed() > CONVERSION_TIMEOUT
            })
        });
        read.await.unwrap_or_else(|_| Err(FetchError::Connection("the page cannot be converted".to_owned())))
    }

    fn from_fetched(fetched: FetchedPage, format: PageFormat, stop: impl Fn() -> bool) -> Result<Self, FetchError> {
        let FetchedPage { url, redirects, status, content_type, bytes, cut } = fetched;
        let length = (!cut).then_some(bytes.len() as u64);
        let kind = content_type.kind_of(&bytes).map_err(|kind| FetchError::Binary { kind, length })?;
        let (source, charset) = decode(&bytes, cut, content_type.charset);
        let style = match format {
            PageFormat::Markdown => Some(RenderStyle::Markdown),
            PageFormat::Text => Some(RenderStyle::Text),
            PageFormat::Html => None,
        };
        let rendered = style.filter(|_| kind == ContentKind::Html).map(|style| render(&source, &url, style, stop));
        let (title, text, left_out, cut) = match rendered {
            Some(RenderedPage { title, text, left_out, cut: is_cut }) => (title, text, left_out, cut || is_cut),
            None => (None, source, 0, cut),
        };
        let essence = if content_type.essence.is_empty() { "unknown" } else { &content_type.essence };
        let kind = format!("{essence}, {charset}");
        Ok(Self { url, redirects, status: status.to_string(), kind, title, text, left_out, bytes: bytes.len(), cut })
    }

    /// Returns up to `limit` characters of the page from `start` on.
    pub(super) fn excerpt(&self, start: usize, limit: usize) -> Result<PageExcerpt<'_>, FetchError> {
        let length = self.text.chars().count();
        if start > 0 && start >= length {
            return Err(FetchError::PastEnd { length });
        }
        let offset = |count: usize| self.text.char_indices().nth(count).map_or(self.text.len(), |(offset, _)| offset);
        let end = start.saturating_add(limit).min(length);
        Ok(PageExcerpt { page: self, text: &self.text[offset(start)..offset(end)], start, end, length })
    }
}

/// A part of a page.
pub(super) struct PageExcerpt<'a> {
    page: &'a WebPage,
    text: &'a str,
    start: usize,
    end: usize,
    length: usize,
}

impl PageExcerpt<'_> {
    /// Formats the result for the model: a header about the page, then the text.
    pub(super) fn to_output(&self) -> String {
        let WebPage { url, redirects, status, kind, title, left_out, cut, .. } = self.page;
        let mut output = format!("URL: {url}\n");
        // Writing to a `String` cannot fail.
        if let Some(first) = redirects.first() {
            _ = writeln!(output, "Redirected from: {first}");
        }
        _ = writeln!(output, "Status: {status}\nType: {kind}");
        if let Some(title) = title {
            _ = writeln!(output, "Title: {title}");
        }
        _ = writeln!(output, "Length: {}", self.describe_length());
        if *left_out > 0 {
            let left_out = format_count(*left_out, "character");
            _ = writeln!(
                output,
                "Left out: {left_out} around the content, such as navigation; use `format` = \"html\" for everything."
            );
        }
        if *cut {
            output.push_str("The page is incomplete: it is too long or too deeply nested to be read whole.\n");
        }
        output.push('\n');
        output.push_str(self.text);
        output
    }

    fn describe_length(&self) -> String {
        let length = format_count(self.length, "character");
        let [start, end] = [self.start, self.end].map(thousands);
        match (self.start, self.end == self.length) {
            (0, true) => length,
            (_, true) => format!("{length}; this is the last part, from {start}"),
            (_, false) => {
                format!("{length}; this part is {start} to {end}, continue with `start` = {}", self.end)
            }
        }
    }

    /// Returns the metadata for a user interface.
    pub(super) fn to_metadata(&self) -> Value {
        let WebPage { url, redirects, status, kind, title, bytes, cut, .. } = self.page;
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

impl FetchedPage {
    /// Converts a response with an error status into an error, with the truncate_error_body of its body.
    pub(super) fn into_error(self, retry_after: Option<String>) -> FetchError {
        let (url, status) = (self.url.clone(), self.status.to_string());
        let started = Instant::now();
        let page =
            WebPage::from_fetched(Self { bytes: truncate_error_body(self.bytes), ..self }, PageFormat::Text, || {
                started.elapsed() > CONVERSION_TIMEOUT
            });
        let body = page.map(|page| page.text.chars().take(ERROR_BODY_LENGTH).collect()).unwrap_or_default();
        FetchError::ErrorResponse(Box::new(ErrorResponse { url, status, retry_after, body }))
    }
}

/// The number of characters of an error body that the model reads.
const ERROR_BODY_LENGTH: usize = 500;

/// Truncates an error body. Its text is expected near the start.
fn truncate_error_body(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(20_000);
    bytes
}

/// Sets a flag when dropped, to stop work that is no longer awaited.
#[derive(Default)]
struct ConversionGuard(Arc<AtomicBool>);

impl Drop for ConversionGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
