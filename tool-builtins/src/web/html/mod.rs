//! From a page to what a model reads of it.
//!
//! The parser is html5ever, that of Servo. The walk over its tree is written here, because a page is written by anyone:
//! of the converters that were tried, none holds out against a megabyte of nested or repeated tags. This one needs
//! time and memory in proportion to the page, stops where it is told to, and never recurses.

mod article;
mod dom;
mod math;
mod plain;
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
use self::dom::{Building, Dom};

/// How a page is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Markdown,
    Text,
}

/// A page that was written down.
#[derive(Debug)]
pub(super) struct Rendered {
    pub(super) title: Option<String>,
    pub(super) text: String,
    /// How much text beside the content was left out, in characters that are no white space.
    pub(super) left_out: usize,
    /// Whether something is missing at the end: the page is nested too deeply, too large, or takes too long.
    pub(super) cut: bool,
}

/// No browser shows more than 512 levels.
const DEEPEST: usize = 512;
/// So many nodes make some hundred megabytes.
const MOST_NODES: usize = 500_000;
/// What is parsed between two looks at how far it has come.
const CHUNK: usize = 4_096;
/// Enough for any page whose text was not made to grow.
const MOST_TEXT: usize = 16 * 1024 * 1024;

/// Writes a page down. It stops soon after `stop` says so.
pub(super) fn render(html: &str, base: &Url, style: Style, stop: impl Fn() -> bool) -> Rendered {
    let (dom, unread) = parse(html, &stop);
    let title = dom.first("title").map(|id| dom.text(id).split_whitespace().collect::<Vec<_>>().join(" "));
    let base = dom
        .first("base")
        .and_then(|id| dom.element(id)?.attribute("href"))
        .and_then(|href| base.join(href).ok())
        .unwrap_or_else(|| base.clone());
    let article = Article::find(&dom);
    let (text, unwritten) = render::write(&dom, &article, &base, style, MOST_TEXT, &stop);
    let title = title.filter(|title| !title.is_empty());
    Rendered { title, text, left_out: article.left_out(), cut: unread || unwritten }
}

/// The tree, and whether the page goes on after it.
fn parse(html: &str, stop: &impl Fn() -> bool) -> (Dom, bool) {
    // What a page says to those without scripts is meant for us.
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let mut parser = parse_document(Building::new(), ParseOpts { tree_builder, ..ParseOpts::default() });
    let mut rest = html;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.floor_char_boundary_of(CHUNK));
        parser.process(chunk.into());
        rest = after;
        let tree = &parser.tokenizer.sink.sink;
        if tree.depth() > DEEPEST || tree.size() > MOST_NODES || stop() {
            break;
        }
    }
    (parser.finish(), !rest.is_empty())
}

/// What `str::floor_char_boundary` does, which is younger than the oldest Rust that we promise.
trait FloorCharBoundary {
    fn floor_char_boundary_of(&self, at: usize) -> usize;
}

impl FloorCharBoundary for str {
    fn floor_char_boundary_of(&self, at: usize) -> usize {
        (0..=at.min(self.len())).rev().find(|&at| self.is_char_boundary(at)).unwrap_or(0)
    }
}
