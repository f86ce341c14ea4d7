//! The walk over a page, without recursion: what is to be done waits in a list.

use url::Url;

use super::Style;
use super::article::Article;
use super::dom::{Data, Dom, Element, Id};
use super::table::Table;
use super::tags::is_block;
use super::writer::{Mark, Writer};

/// Writes the content of a page down; says whether something is missing at the end.
pub(super) fn write(
    dom: &Dom,
    article: &Article,
    base: &Url,
    style: Style,
    most: usize,
    stop: &impl Fn() -> bool,
) -> (String, bool) {
    let mut walk = Walk {
        dom,
        article,
        base,
        style,
        out: Writer::new(style),
        steps: vec![Step::Enter(article.root)],
        lists: vec![],
        tables: vec![],
        marks: vec![],
    };
    let mut steps: usize = 0;
    while let Some(step) = walk.steps.pop() {
        steps += 1;
        if walk.out.len() > most || (steps.is_multiple_of(LOOK_EVERY) && stop()) {
            return (walk.out.into_text(), true);
        }
        match step {
            Step::Enter(id) => walk.enter(id),
            Step::Leave(end) => walk.leave(end),
        }
    }
    (walk.out.into_text(), false)
}

/// How many steps are made between two looks at whether to stop.
const LOOK_EVERY: usize = 1_024;

/// A longer reference is nothing to read, and could be repeated in every paragraph.
const LONGEST_REFERENCE: usize = 2_048;

pub(super) struct Walk<'a> {
    pub(super) dom: &'a Dom,
    article: &'a Article,
    base: &'a Url,
    pub(super) style: Style,
    pub(super) out: Writer,
    pub(super) steps: Vec<Step>,
    /// The lists that we are in, with their numbers if they have any.
    lists: Vec<Option<Numbers>>,
    /// The tables that we are in.
    pub(super) tables: Vec<Table>,
    /// The emphasis that we are in.
    marks: Vec<&'static str>,
}

/// The numbers of a list.
#[derive(Clone, Copy)]
struct Numbers {
    next: i64,
    step: i64,
}

pub(super) enum Step {
    Enter(Id),
    Leave(End),
}

/// What is to be done after the children of an element.
pub(super) enum End {
    Gap(usize),
    Mark(Mark, &'static str),
    Emphasis(Mark),
    /// This directly after what was written.
    Glued(&'static str),
    Space,
    Link(Mark, String),
    OneLine,
    Prefix,
    List,
    Cell,
    Row,
    Table,
}

impl Walk<'_> {
    fn enter(&mut self, id: Id) {
        let dom = self.dom;
        match &dom.node(id).data {
            Data::Text(text) => self.out.words(text),
            Data::Other => self.children(id),
            Data::Element(element) if dom.is_shown(id) && !self.article.leaves_out(id, element) => {
                self.element(id, element);
            }
            Data::Element(_) => {}
        }
    }

    pub(super) fn children(&mut self, id: Id) {
        self.steps.extend(self.dom.node(id).children.iter().rev().map(|&child| Step::Enter(child)));
    }

    /// The children, and then these, the last first.
    pub(super) fn children_then<const N: usize>(&mut self, id: Id, ends: [End; N]) {
        self.steps.extend(ends.into_iter().map(Step::Leave));
        self.children(id);
    }

    fn element(&mut self, id: Id, element: &Element) {
        let markdown = self.style == Style::Markdown;
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
                self.children_then(id, [End::Glued(")")]);
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
                self.steps.push(Step::Leave(End::Gap(2)));
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
            "button" if self.copies(id) => {}
            "button" | "label" => {
                self.out.space();
                self.children_then(id, [End::Space]);
            }
            "span" if self.unrendered_math(id, element) => {}
            "div" => {
                self.out.gap(2);
                self.steps.push(Step::Leave(End::Gap(2)));
                if !self.unrendered_math(id, element) {
                    self.children(id);
                }
            }
            tag if is_block(tag) => self.block(id, 2),
            _ => self.children(id),
        }
    }

    fn leave(&mut self, end: End) {
        match end {
            End::Gap(lines) => self.out.gap(lines),
            End::Mark(mark, after) => self.out.close(mark, after),
            End::Emphasis(mark) => {
                let after = self.marks.pop().unwrap_or_default();
                self.out.close(mark, after);
            }
            End::Glued(sign) => self.out.glued(sign),
            End::Space => self.out.space(),
            End::Link(mark, target) => self.out.close(mark, &format!("]({target})")),
            End::OneLine => self.out.end_one_line(),
            End::Prefix => self.out.end_prefix(),
            End::List => _ = self.lists.pop(),
            End::Cell => self.end_cell(),
            End::Row => self.end_row(),
            End::Table => _ = self.tables.pop(),
        }
    }

    fn block(&mut self, id: Id, gap: usize) {
        self.out.gap(gap);
        self.children_then(id, [End::Gap(gap)]);
    }

    fn rule(&mut self) {
        self.out.gap(2);
        if self.style == Style::Markdown {
            self.out.raw("---");
            self.out.gap(2);
        }
    }

    /// Emphasis within the same emphasis is none.
    fn marked(&mut self, id: Id, mark: &'static str) {
        if self.marks.contains(&mark) {
            return self.children(id);
        }
        let begun = self.out.open(mark);
        self.marks.push(mark);
        self.children_then(id, [End::Emphasis(begun)]);
    }

    /// Raised or lowered text, with a sign if it belongs to what is before it.
    fn script(&mut self, id: Id, element: &Element) {
        match self.dom.script(id, element).filter(|_| self.out.is_in_line()) {
            Some((sign, before, after)) => {
                self.out.raw(sign);
                self.out.glued(before);
                let text = self.dom.text(id);
                self.out.words(text.trim());
                self.out.glued(after);
            }
            None => self.children(id),
        }
    }

    /// Returns `true` for a button that copies what stands beside it.
    fn copies(&self, id: Id) -> bool {
        let text = self.dom.short_text(id, LONGEST_BUTTON);
        text.is_some_and(|text| text.to_ascii_lowercase().starts_with("cop"))
    }

    fn heading(&mut self, id: Id, mark: &'static str) {
        self.out.gap(2);
        let has_mark = self.style == Style::Markdown && !self.out.is_on_one_line();
        self.out.begin_one_line();
        let ends = [End::Gap(2), End::OneLine];
        if has_mark {
            let begun = self.out.open(mark);
            self.steps.extend(ends.map(Step::Leave));
            self.children_then(id, [End::Mark(begun, "")]);
        } else {
            self.children_then(id, ends);
        }
    }

    /// A link is on one line, whatever stands in it, or Markdown would not see it. The link of a heading to itself is
    /// none.
    fn link(&mut self, id: Id, element: &Element) {
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
        match target.filter(|_| self.style == Style::Markdown) {
            Some(target) => {
                let begun = self.out.open("[");
                self.out.begin_one_line();
                self.children_then(id, [End::Link(begun, target), End::OneLine]);
            }
            None => self.children(id),
        }
    }

    fn image(&mut self, element: &Element) {
        let Some(alt) = element.attribute("alt").filter(|alt| !alt.trim().is_empty()) else { return };
        let source = element.attribute("src").and_then(|source| self.absolute(source, &["http", "https"]));
        match source.filter(|_| self.style == Style::Markdown) {
            Some(source) => {
                let alt = alt.split_whitespace().collect::<Vec<_>>().join(" ").replace(['[', ']'], "");
                self.out.raw(&format!("![{alt}]({source})"));
            }
            None => self.out.words(alt),
        }
    }

    /// Where a reference of the page leads. Parentheses would end a link of Markdown.
    fn absolute(&self, reference: &str, schemes: &[&str]) -> Option<String> {
        if reference.len() > LONGEST_REFERENCE {
            return None;
        }
        let url = self.base.join(reference).ok().filter(|url| schemes.contains(&url.scheme()))?;
        Some(url.as_str().replace('(', "%28").replace(')', "%29"))
    }

    fn code(&mut self, id: Id) {
        if self.dom.children(id).any(|id| self.dom.tag(id) == Some("pre")) {
            return self.children(id);
        }
        let text = self.dom.text(id);
        self.code_span(&text);
    }

    /// Code within a line.
    fn code_span(&mut self, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            let fence = "`".repeat(longest_run(&text, '`') + 1);
            let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
            self.out.raw(&format!("{fence}{space}{text}{space}{fence}"));
        }
    }

    fn preformatted(&mut self, id: Id) {
        let text = self.dom.text(id);
        let text = text.trim_end().trim_start_matches('\n');
        if text.trim().is_empty() {
            return;
        }
        self.out.gap(2);
        match self.style {
            // A block cannot stand in a cell, nor in a link.
            Style::Markdown if self.out.is_on_one_line() => {
                for (number, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
                    if number > 0 {
                        self.out.raw("<br>");
                    }
                    self.code_span(line);
                }
            }
            Style::Text if self.out.is_on_one_line() => self.out.words(text),
            Style::Markdown => {
                let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
                self.out.lines(&format!("{fence}{}\n{text}\n{fence}", self.dom.language(id)));
            }
            Style::Text => self.out.lines(text),
        }
        self.out.gap(2);
    }

    fn in_prefix(&mut self, id: Id, begun: bool) {
        self.steps.extend(begun.then_some(Step::Leave(End::Prefix)));
        self.children(id);
    }

    fn numbers(&self, list: Id, element: &Element) -> Numbers {
        let is_reversed = element.attribute("reversed").is_some();
        let items = || self.dom.children(list).filter(|&id| self.dom.tag(id) == Some("li")).count();
        let first = || if is_reversed { i64::try_from(items()).unwrap_or(i64::MAX) } else { 1 };
        Numbers { next: element.number("start").unwrap_or_else(first), step: if is_reversed { -1 } else { 1 } }
    }

    fn list(&mut self, id: Id, first: Option<Numbers>) {
        let gap = if self.lists.is_empty() { 2 } else { 1 };
        self.out.gap(gap);
        self.lists.push(first);
        self.children_then(id, [End::Gap(gap), End::List]);
    }

    fn item(&mut self, id: Id, element: &Element) {
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
        self.steps.push(Step::Leave(End::Gap(1)));
        self.in_prefix(id, begun);
    }
}

/// Longer buttons say more than that they copy.
const LONGEST_BUTTON: usize = 24;

/// The most of a character in a row.
fn longest_run(text: &str, of: char) -> usize {
    text.split(|c| c != of).map(str::len).max().unwrap_or(0)
}
