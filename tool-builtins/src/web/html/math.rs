//! Formulas.

use super::Style;
use super::dom::{Data, Element, Id};
use super::render::{End, Step, Walk};

/// More nodes of a formula are not looked through for its source.
const MOST_NODES: usize = 5_000;

impl Walk<'_> {
    /// Writes a formula in TeX if the page has it so, and what it consists of otherwise.
    pub(super) fn math(&mut self, id: Id, element: &Element) {
        let Some(tex) = self.tex(id, element) else { return self.children(id) };
        self.write_tex(&tex, element.attribute("display") == Some("block"));
    }

    fn write_tex(&mut self, tex: &str, is_block: bool) {
        let sign = match (self.style, is_block) {
            (Style::Text, _) => "",
            (Style::Markdown, true) => "$$",
            (Style::Markdown, false) => "$",
        };
        self.out.raw(&format!("{sign}{tex}{sign}"));
    }

    /// Writes a formula that is left to a script of the page, as `\(TeX\)` or `\[TeX\]`; returns `false` if there is none.
    pub(super) fn unrendered_math(&mut self, id: Id, element: &Element) -> bool {
        if !element.classes().any(|class| matches!(class, "arithmatex" | "math")) {
            return false;
        }
        let (mut text, mut beside) = (String::new(), None);
        for child in self.dom.children(id) {
            match &self.dom.node(child).data {
                Data::Text(part) => text.push_str(part),
                // The number of the formula.
                Data::Element(element) if element.classes().any(|class| class == "eqno") => beside = Some(child),
                _ => return false,
            }
        }
        let text = one_line(&text);
        let between = |start, end| text.strip_prefix(start)?.strip_suffix(end).map(str::trim);
        let block = between("\\[", "\\]").or_else(|| between("$$", "$$"));
        let Some(tex) = block.or_else(|| between("\\(", "\\)")) else { return false };
        self.write_tex(tex, block.is_some());
        if let Some(number) = beside {
            self.out.space();
            self.steps.push(Step::Enter(number));
        }
        true
    }

    fn tex(&self, id: Id, element: &Element) -> Option<String> {
        let dom = self.dom;
        let is_tex = |id: &Id| {
            let encoding = dom.element(*id).and_then(|element| element.attribute("encoding"));
            encoding == Some("application/x-tex") && dom.tag(*id) == Some("annotation")
        };
        let annotation = dom.below(id, |_| true).take(MOST_NODES).find(is_tex);
        let noted = annotation.map(|id| dom.text(id)).or_else(|| element.attribute("alttext").map(str::to_owned));
        let tex = one_line(&noted?);
        let shown = dom.below(id, |id| dom.is_shown(id)).take(MOST_NODES).filter_map(|id| match &dom.node(id).data {
            Data::Text(text) => Some(text.as_str()),
            _ => None,
        });
        (!tex.is_empty() && says_the_same(&tex, &shown.collect::<String>())).then_some(tex)
    }

    /// Writes an element of a formula whose parts do not stand side by side.
    pub(super) fn formula(&mut self, id: Id, element: &Element) {
        let parts: Vec<Id> =
            self.dom.children(id).filter(|&id| matches!(self.dom.node(id).data, Data::Element(_))).take(4).collect();
        let signs: &[&'static str] = match (element.tag(), parts.len()) {
            ("msup", 2) => &["", "^(", ")"],
            ("msub", 2) => &["", "_(", ")"],
            ("msubsup", 3) => &["", "_(", ")^(", ")"],
            ("mfrac", 2) => &["(", ")/(", ")"],
            ("msqrt", _) => {
                self.out.raw("sqrt(");
                return self.children_then(id, [End::Glued(")")]);
            }
            _ => return self.children(id),
        };
        if let [first, ..] = signs
            && !first.is_empty()
        {
            self.out.raw(first);
        }
        for (part, sign) in parts.iter().zip(&signs[1..]).rev() {
            self.steps.extend([Step::Leave(End::Glued(sign)), Step::Enter(*part)]);
        }
    }
}

/// Returns `true` if the words of a formula in TeX are those that it shows. The source of a formula is not shown, so that
/// a page could say something in it to models alone.
fn says_the_same(tex: &str, shown: &str) -> bool {
    let shown: String = shown.split_whitespace().collect();
    // Environments are named in braces, all other commands by themselves.
    let parts = tex.split('\\').enumerate().map(|(number, part)| {
        let part = ["begin{", "end{"].iter().find_map(|begin| part.strip_prefix(begin)).unwrap_or(part);
        if number == 0 { part } else { part.trim_start_matches(|c: char| c.is_alphabetic() || c == '*') }
    });
    let mut words = parts.flat_map(|part| part.split(|c: char| !c.is_alphabetic()));
    words.all(|word| word.chars().count() < SHORTEST_WORD || shown.contains(word))
}

/// Fewer letters in a row may be the name of a color or a size.
const SHORTEST_WORD: usize = 4;

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
