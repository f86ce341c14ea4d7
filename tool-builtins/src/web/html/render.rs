//! Rendering of the document tree. Uses an explicit stack instead of recursion.

use url::Url;

use super::RenderStyle;
use super::article::Article;
use super::dom::{Dom, Element, NodeData, NodeId};
use super::table::TableState;
use super::tags::is_block;
use super::writer::{MarkId, TextWriter};

/// Renders the content of a page. Returns the text, and whether it is truncated.
pub(super) fn write(
    dom: &Dom,
    article: &Article,
    base: &Url,
    style: RenderStyle,
    limit: usize,
    stop: &impl Fn() -> bool,
) -> (String, bool) {
    let mut renderer = Renderer {
        dom,
        article,
        base,
        style,
        out: TextWriter::new(style),
        steps: vec![RenderStep::Enter(article.root)],
        lists: vec![],
        tables: vec![],
        marks: vec![],
    };
    let mut steps: usize = 0;
    while let Some(step) = renderer.steps.pop() {
        steps += 1;
        if renderer.out.len() > limit || (steps.is_multiple_of(STOP_CHECK_INTERVAL) && stop()) {
            return (renderer.out.into_text(), true);
        }
        match step {
            RenderStep::Enter(id) => renderer.enter(id),
            RenderStep::Leave(end) => renderer.leave(end),
        }
    }
    (renderer.out.into_text(), false)
}

/// The number of steps between two checks of `stop`.
const STOP_CHECK_INTERVAL: usize = 1_024;

/// The maximum length of a link target. A longer one is not useful, and could be repeated in every paragraph.
const MAX_REFERENCE: usize = 2_048;

/// State of the traversal.
pub(super) struct Renderer<'a> {
    pub(super) dom: &'a Dom,
    article: &'a Article,
    base: &'a Url,
    pub(super) style: RenderStyle,
    pub(super) out: TextWriter,
    pub(super) steps: Vec<RenderStep>,
    /// The enclosing lists, with the numbering of ordered ones.
    lists: Vec<Option<ListNumbering>>,
    /// The enclosing tables.
    pub(super) tables: Vec<TableState>,
    /// The open emphasis marks.
    marks: Vec<&'static str>,
}

/// The numbering of an ordered list.
#[derive(Clone, Copy)]
struct ListNumbering {
    next: i64,
    step: i64,
}

/// A pending step of the traversal.
pub(super) enum RenderStep {
    Enter(NodeId),
    Leave(ClosingStep),
}

/// An action after the children of an element.
pub(super) enum ClosingStep {
    Gap(usize),
    Mark(MarkId, &'static str),
    Emphasis(MarkId),
    /// Appends text without a space before it.
    Append(&'static str),
    Space,
    Link(MarkId, String),
    OneLine,
    Prefix,
    List,
    Cell,
    Row,
    Table,
}

impl Renderer<'_> {
    fn enter(&mut self, id: NodeId) {
        let dom = self.dom;
        match &dom.node(id).data {
            NodeData::Text(text) => self.out.words(text),
            NodeData::Other => self.children(id),
            NodeData::Element(element) if dom.is_shown(id) && !self.article.is_left_out(id, element) => {
                self.element(id, element);
            }
            NodeData::Element(_) => {}
        }
    }

    pub(super) fn children(&mut self, id: NodeId) {
        self.steps.extend(self.dom.node(id).children.iter().rev().map(|&child| RenderStep::Enter(child)));
    }

    /// Renders the children and then performs `ends`, the last one first.
    pub(super) fn children_then<const N: usize>(&mut self, id: NodeId, ends: [ClosingStep; N]) {
        self.steps.extend(ends.into_iter().map(RenderStep::Leave));
        self.children(id);
    }

    fn element(&mut self, id: NodeId, element: &Element) {
        let markdown = self.style == RenderStyle::Markdown;
        match element.tag() {
            "br" => self.out.gap(1),
            "hr" => self.rule(),
            "img" => self.image(element),
            "a" => self.link(id, element),
            "b" | "strong" if markdown => self.marked(id, "**"),
            "i" | "em" if markdown => self.marked(id, "*"),
            "del" | "s" if markdown => self.marked(id, "~~"),
            "code" | "kbd" | "samp" if markdown => self.code(id),
            "pre" | "listing" | "xmp" => self.preformatted(id),
            "sup" | "sub" => self.script(id, element),
            "rt" => {
                self.out.raw("(");
                self.children_then(id, [ClosingStep::Append(")")]);
            }
            "math" => self.math(id, element),
            "msup" | "msub" | "msubsup" | "mfrac" | "msqrt" => self.formula(id, element),
            "h1" => self.heading(id, "# "),
            "h2" => self.heading(id, "## "),
            "h3" => self.heading(id, "### "),
            "h4" => self.heading(id, "#### "),
            "h5" => self.heading(id, "##### "),
            "h6" => self.heading(id, "###### "),
            "blockquote" => {
                self.out.gap(2);
                let begun = self.out.begin_quote();
                self.steps.push(RenderStep::Leave(ClosingStep::Gap(2)));
                self.in_prefix(id, begun);
            }
            "ul" | "menu" => self.list(id, None),
            "ol" => self.list(id, Some(self.numbers(id, element))),
            "li" => self.item(id, element),
            "dt" => self.block(id, 1),
            "dd" => {
                self.out.gap(1);
                let begun = self.out.begin_item("  ".to_owned());
                self.in_prefix(id, begun);
            }
            "table" => self.table(id, element),
            "tr" => self.row(id),
            "td" | "th" if self.dom.is_line_numbers(id, element) => {}
            "td" | "th" => self.cell(id, element),
            "button" if self.is_copy_button(id) => {}
            "button" | "label" => {
                self.out.space();
                self.children_then(id, [ClosingStep::Space]);
            }
            "span" if self.unrendered_math(id, element) => {}
            "div" => {
                self.out.gap(2);
                self.steps.push(RenderStep::Leave(ClosingStep::Gap(2)));
                if !self.unrendered_math(id, element) {
                    self.children(id);
                }
            }
            tag if is_block(tag) => self.block(id, 2),
            _ => self.children(id),
        }
    }

    fn leave(&mut self, end: ClosingStep) {
        match end {
            ClosingStep::Gap(lines) => self.out.gap(lines),
            ClosingStep::Mark(mark, after) => self.out.close(mark, after),
            ClosingStep::Emphasis(mark) => {
                let after = self.marks.pop().unwrap_or_default();
                self.out.close(mark, after);
            }
            ClosingStep::Append(sign) => self.out.append(sign),
            ClosingStep::Space => self.out.space(),
            ClosingStep::Link(mark, target) => self.out.close(mark, &format!("]({target})")),
            ClosingStep::OneLine => self.out.end_one_line(),
            ClosingStep::Prefix => self.out.end_prefix(),
            ClosingStep::List => _ = self.lists.pop(),
            ClosingStep::Cell => self.end_cell(),
            ClosingStep::Row => self.end_row(),
            ClosingStep::Table => _ = self.tables.pop(),
        }
    }

    fn block(&mut self, id: NodeId, gap: usize) {
        self.out.gap(gap);
        self.children_then(id, [ClosingStep::Gap(gap)]);
    }

    fn rule(&mut self) {
        self.out.gap(2);
        if self.style == RenderStyle::Markdown {
            self.out.raw("---");
            self.out.gap(2);
        }
    }

    /// Writes emphasis. Emphasis nested within the same emphasis is ignored.
    fn marked(&mut self, id: NodeId, mark: &'static str) {
        if self.marks.contains(&mark) {
            return self.children(id);
        }
        let begun = self.out.open(mark);
        self.marks.push(mark);
        self.children_then(id, [ClosingStep::Emphasis(begun)]);
    }

    /// Writes a superscript or subscript, with a sign if it belongs to the text before it.
    fn script(&mut self, id: NodeId, element: &Element) {
        match self.dom.script(id, element).filter(|_| self.out.is_in_line()) {
            Some((sign, before, after)) => {
                self.out.raw(sign);
                self.out.append(before);
                let text = self.dom.text(id);
                self.out.words(text.trim());
                self.out.append(after);
            }
            None => self.children(id),
        }
    }

    /// Returns `true` for a button that copies adjacent text.
    fn is_copy_button(&self, id: NodeId) -> bool {
        let text = self.dom.short_text(id, MAX_BUTTON);
        text.is_some_and(|text| text.to_ascii_lowercase().starts_with("cop"))
    }

    fn heading(&mut self, id: NodeId, mark: &'static str) {
        self.out.gap(2);
        let has_mark = self.style == RenderStyle::Markdown && !self.out.is_on_one_line();
        self.out.begin_one_line();
        let ends = [ClosingStep::Gap(2), ClosingStep::OneLine];
        if has_mark {
            let begun = self.out.open(mark);
            self.steps.extend(ends.map(RenderStep::Leave));
            self.children_then(id, [ClosingStep::Mark(begun, "")]);
        } else {
            self.children_then(id, ends);
        }
    }

    /// Writes a link. Markdown requires its text to be on one line. The link of a heading to itself is ignored.
    fn link(&mut self, id: NodeId, element: &Element) {
        let href = element.attribute("href");
        if href.is_some_and(|href| href.starts_with('#')) {
            let is_sign = |text: String| text.chars().any(|c| !c.is_alphanumeric());
            if self.dom.short_text(id, 1).is_some_and(is_sign) {
                return;
            }
            let parent = self.dom.node(id).parent.and_then(|id| self.dom.tag(id));
            if matches!(parent, Some("h1" | "h2" | "h3" | "h4" | "h5" | "h6")) {
                return self.children(id);
            }
            if element.classes().any(|class| class.contains("anchor-link")) {
                return;
            }
        }
        let target = href.and_then(|href| self.absolute(href, &["http", "https", "mailto"]));
        match target.filter(|_| self.style == RenderStyle::Markdown) {
            Some(target) => {
                let begun = self.out.open("[");
                self.out.begin_one_line();
                self.children_then(id, [ClosingStep::Link(begun, target), ClosingStep::OneLine]);
            }
            None => self.children(id),
        }
    }

    fn image(&mut self, element: &Element) {
        let Some(alt) = element.attribute("alt").filter(|alt| !alt.trim().is_empty()) else { return };
        let source = element.attribute("src").and_then(|source| self.absolute(source, &["http", "https"]));
        match source.filter(|_| self.style == RenderStyle::Markdown) {
            Some(source) => {
                let alt = alt.split_whitespace().collect::<Vec<_>>().join(" ").replace(['[', ']'], "");
                self.out.raw(&format!("![{alt}]({source})"));
            }
            None => self.out.words(alt),
        }
    }

    /// Resolves a reference of the page. Escapes parentheses, which would end a Markdown link.
    fn absolute(&self, reference: &str, schemes: &[&str]) -> Option<String> {
        if reference.len() > MAX_REFERENCE {
            return None;
        }
        let url = self.base.join(reference).ok().filter(|url| schemes.contains(&url.scheme()))?;
        Some(url.as_str().replace('(', "%28").replace(')', "%29"))
    }

    fn code(&mut self, id: NodeId) {
        if self.dom.children(id).any(|id| self.dom.tag(id) == Some("pre")) {
            return self.children(id);
        }
        let text = self.dom.text(id);
        self.code_span(&text);
    }

    /// Writes inline code.
    fn code_span(&mut self, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            let fence = "`".repeat(longest_run(&text, '`') + 1);
            let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
            self.out.raw(&format!("{fence}{space}{text}{space}{fence}"));
        }
    }

    fn preformatted(&mut self, id: NodeId) {
        let text = self.dom.text(id);
        let text = text.trim_end().trim_start_matches('\n');
        if text.trim().is_empty() {
            return;
        }
        self.out.gap(2);
        match self.style {
            // Code blocks are not possible in table cells and links.
            RenderStyle::Markdown if self.out.is_on_one_line() => {
                for (number, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
                    if number > 0 {
                        self.out.raw("<br>");
                    }
                    self.code_span(line);
                }
            }
            RenderStyle::Text if self.out.is_on_one_line() => self.out.words(text),
            RenderStyle::Markdown => {
                let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
                self.out.lines(&format!("{fence}{}\n{text}\n{fence}", self.dom.language(id)));
            }
            RenderStyle::Text => self.out.lines(text),
        }
        self.out.gap(2);
    }

    fn in_prefix(&mut self, id: NodeId, begun: bool) {
        self.steps.extend(begun.then_some(RenderStep::Leave(ClosingStep::Prefix)));
        self.children(id);
    }

    fn numbers(&self, list: NodeId, element: &Element) -> ListNumbering {
        let is_reversed = element.attribute("reversed").is_some();
        let items = || self.dom.children(list).filter(|&id| self.dom.tag(id) == Some("li")).count();
        let first = || if is_reversed { i64::try_from(items()).unwrap_or(i64::MAX) } else { 1 };
        ListNumbering { next: element.number("start").unwrap_or_else(first), step: if is_reversed { -1 } else { 1 } }
    }

    fn list(&mut self, id: NodeId, first: Option<ListNumbering>) {
        let gap = if self.lists.is_empty() { 2 } else { 1 };
        self.out.gap(gap);
        self.lists.push(first);
        self.children_then(id, [ClosingStep::Gap(gap), ClosingStep::List]);
    }

    fn item(&mut self, id: NodeId, element: &Element) {
        let bullet = match self.lists.last_mut() {
            Some(Some(numbers)) => {
                let number = element.number("value").unwrap_or(numbers.next);
                numbers.next = number.saturating_add(numbers.step);
                format!("{number}. ")
            }
            _ => "- ".to_owned(),
        };
        self.out.gap(1);
        let begun = self.out.begin_item(bullet);
        self.steps.push(RenderStep::Leave(ClosingStep::Gap(1)));
        self.in_prefix(id, begun);
    }
}

/// The maximum length of a copy button's label.
const MAX_BUTTON: usize = 24;

/// Returns the length of the longest run of a character.
fn longest_run(text: &str, of: char) -> usize {
    text.split(|c| c != of).map(str::len).max().unwrap_or(0)
}
