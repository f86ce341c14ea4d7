//! The walk over a page, without recursion: what is to be done waits in a list.

use url::Url;

use super::Style;
use super::dom::{DOCUMENT, Data, Dom, Element, Id};
use super::table::Table;
use super::tags::{is_block, is_shown};
use super::writer::{Mark, Writer};

/// Writes a page down; says whether something is missing at the end.
pub(super) fn write(dom: &Dom, base: &Url, style: Style, most: usize, stop: &impl Fn() -> bool) -> (String, bool) {
    let mut walk = Walk {
        dom,
        base,
        style,
        out: Writer::new(style),
        steps: vec![Step::Enter(DOCUMENT)],
        lists: vec![],
        tables: vec![],
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
    base: &'a Url,
    pub(super) style: Style,
    pub(super) out: Writer,
    steps: Vec<Step>,
    /// The lists that we are in: the number of the next item, if they are numbered.
    lists: Vec<Option<u64>>,
    /// The tables that we are in.
    pub(super) tables: Vec<Table>,
}

enum Step {
    Enter(Id),
    Leave(End),
}

/// What is to be done after the children of an element.
pub(super) enum End {
    Gap(usize),
    Mark(Mark, &'static str),
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
            Data::Element(element) if is_shown(element) => self.element(id, element),
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
            "pre" => self.preformatted(id),
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
            "ol" => self.list(id, Some(element.attribute("start").and_then(|start| start.parse().ok()).unwrap_or(1))),
            "li" => self.item(id),
            "dt" => self.block(id, 1),
            "dd" => {
                self.out.gap(1);
                let begun = self.out.begin_item("  ".to_owned());
                self.in_prefix(id, begun);
            }
            "table" => self.table(id),
            "tr" => self.row(id),
            "td" | "th" => self.cell(id),
            tag if is_block(tag) => self.block(id, 2),
            _ => self.children(id),
        }
    }

    fn leave(&mut self, end: End) {
        match end {
            End::Gap(lines) => self.out.gap(lines),
            End::Mark(mark, after) => self.out.close(mark, after),
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

    fn marked(&mut self, id: Id, mark: &'static str) {
        let begun = self.out.open(mark);
        self.children_then(id, [End::Mark(begun, mark)]);
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

    /// A link is on one line, whatever stands in it, or Markdown would not see it.
    fn link(&mut self, id: Id, element: &Element) {
        let target = element.attribute("href").and_then(|href| self.absolute(href, &["http", "https", "mailto"]));
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
        let text = self.dom.text(id).split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            let fence = "`".repeat(longest_run(&text, '`') + 1);
            let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
            self.out.raw(&format!("{fence}{space}{text}{space}{fence}"));
        }
    }

    fn preformatted(&mut self, id: Id) {
        let text = self.dom.text(id);
        let text = text.trim_end().trim_start_matches('\n');
        if text.is_empty() {
            return;
        }
        self.out.gap(2);
        if self.style == Style::Markdown {
            let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
            self.out.lines(&format!("{fence}{}\n{text}\n{fence}", self.language(id)));
        } else {
            self.out.lines(text);
        }
        self.out.gap(2);
    }

    /// The language of a block of code, as most highlighters note it.
    fn language(&self, id: Id) -> &str {
        let inner = self.dom.node(id).children.first().copied();
        [Some(id), inner]
            .into_iter()
            .flatten()
            .filter_map(|id| self.dom.element(id)?.attribute("class"))
            .flat_map(str::split_whitespace)
            .find_map(|class| class.strip_prefix("language-").or_else(|| class.strip_prefix("lang-")))
            .filter(|language| language.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-#_".contains(&b)))
            .unwrap_or("")
    }

    fn in_prefix(&mut self, id: Id, begun: bool) {
        self.steps.extend(begun.then_some(Step::Leave(End::Prefix)));
        self.children(id);
    }

    fn list(&mut self, id: Id, first: Option<u64>) {
        let gap = if self.lists.is_empty() { 2 } else { 1 };
        self.out.gap(gap);
        self.lists.push(first);
        self.children_then(id, [End::Gap(gap), End::List]);
    }

    fn item(&mut self, id: Id) {
        let bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                let bullet = format!("{number}. ");
                *number = number.saturating_add(1);
                bullet
            }
            _ => "- ".to_owned(),
        };
        self.out.gap(1);
        let begun = self.out.begin_item(bullet);
        self.steps.push(Step::Leave(End::Gap(1)));
        self.in_prefix(id, begun);
    }
}

/// The most of a character in a row.
fn longest_run(text: &str, of: char) -> usize {
    text.split(|c| c != of).map(str::len).max().unwrap_or(0)
}
