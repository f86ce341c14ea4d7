//! Conversion of HTML to Markdown or plain text.
//!
//! Pages are parsed with html5ever. The conversion is implemented here because pages are untrusted: every converter crate
//! that was tried fails on a megabyte of nested or repeated tags. This one needs time and memory proportional to the
//! page, can be stopped, and never recurses.

mod article;
mod dom;
mod math;
mod plain_text;
mod render;
mod table;
mod tags;
#[cfg(test)]
mod tests;
mod writer;

use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};
use url::Url;

use self::article::Article;
use self::dom::{Dom, DomBuilder};

/// The output style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RenderStyle {
    Markdown,
    Text,
}

/// A converted page.
#[derive(Debug)]
pub(super) struct RenderedPage {
    pub(super) title: Option<String>,
    pub(super) text: String,
    /// The number of non-white-space characters left out around the content.
    pub(super) left_out: usize,
    /// `true` if the end is missing: the page is nested too deeply, too large, or takes too long.
    pub(super) cut: bool,
}

/// The maximum nesting depth, as in browsers.
const MAX_DEPTH: usize = 512;
/// The maximum number of nodes, which take some hundred megabytes.
const MAX_NODES: usize = 500_000;
/// The number of bytes parsed between two checks of the limits.
const CHUNK: usize = 4_096;
/// The maximum size of the output in bytes.
const MAX_TEXT: usize = 16 * 1024 * 1024;

/// Converts a page. Stops soon after `stop` returns `true`.
pub(super) fn render(html: &str, base: &Url, style: RenderStyle, stop: impl Fn() -> bool) -> RenderedPage {
    let (dom, unread) = parse(html, &stop);
    let title = dom.first("title").map(|id| dom.text(id).split_whitespace().collect::<Vec<_>>().join(" "));
    let base = dom
        .first("base")
        .and_then(|id| dom.element(id)?.attribute("href"))
        .and_then(|href| base.join(href).ok())
        .unwrap_or_else(|| base.clone());
    let article = Article::find(&dom);
    let (text, unwritten) = render::write(&dom, &article, &base, style, MAX_TEXT, &stop);
    let title = title.filter(|title| !title.is_empty());
    RenderedPage { title, text, left_out: article.left_out(), cut: unread || unwritten }
}

/// Parses a page. Returns the tree, and whether the page was truncated.
fn parse(html: &str, stop: &impl Fn() -> bool) -> (Dom, bool) {
    // Without scripting, `noscript` content is parsed, which is what we want.
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let mut parser = parse_document(DomBuilder::new(), ParseOpts { tree_builder, ..ParseOpts::default() });
    let mut rest = html;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.floor_char_boundary_of(CHUNK));
        parser.process(chunk.into());
        rest = after;
        let tree = &parser.tokenizer.sink.sink;
        if tree.depth() > MAX_DEPTH || tree.size() > MAX_NODES || stop() {
            break;
        }
    }
    (parser.finish(), !rest.is_empty())
}

/// Replacement for `str::floor_char_boundary`, which the minimum supported Rust version lacks.
trait FloorCharBoundary {
    fn floor_char_boundary_of(&self, at: usize) -> usize;
}

impl FloorCharBoundary for str {
    fn floor_char_boundary_of(&self, at: usize) -> usize {
        (0..=at.min(self.len())).rev().find(|&at| self.is_char_boundary(at)).unwrap_or(0)
    }
}
