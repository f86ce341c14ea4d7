//! Formulas.

use super::Style;
use super::dom::{Data, Element, Id};
use super::render::{End, Step, Walk};

/// More nodes of a formula are not looked through for its source.
const MOST_NODES: usize = 5_000;

/// A longer source of a formula, in characters, is not compared with what the formula shows.
const LONGEST_SOURCE: usize = 2_000;

/// More bytes of what a formula shows are not compared with its source.
const MOST_SHOWN: usize = 8_000;

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
        let tex = match annotation {
            Some(id) => dom.short_text(id, LONGEST_SOURCE)?,
            None => one_line(element.attribute("alttext").filter(|tex| tex.len() <= LONGEST_SOURCE)?),
        };
        let mut shown = String::new();
        for id in dom.below(id, |id| dom.is_shown(id)).take(MOST_NODES) {
            if let Data::Text(text) = &dom.node(id).data {
                if shown.len() + text.len() > MOST_SHOWN {
                    return None;
                }
                shown.extend(text.split_whitespace());
            }
        }
        (!tex.is_empty() && says_the_same(&tex, &shown)).then_some(tex)
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
    let is_said = |word: &str| word.chars().count() < SHORTEST_WORD || shown.contains(word);
    let is_fine = |name: &str| is_said(name) || NAMES.contains(&name.to_ascii_lowercase().as_str());
    tex.split('\\').enumerate().all(|(number, part)| {
        let (command, part) = if number == 0 { ("", part) } else { split_name(part) };
        // Environments are named in braces, all other commands by themselves.
        let (environment, part) = match part.strip_prefix('{') {
            Some(part) if matches!(command, "begin" | "end") => split_name(part),
            _ => ("", part),
        };
        is_fine(command) && is_fine(environment) && part.split(|c: char| !c.is_alphabetic()).all(is_said)
    })
}

/// Divides a text behind the letters that it begins with.
fn split_name(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len()))
}

/// Fewer letters in a row may be the name of a color or a size.
const SHORTEST_WORD: usize = 4;

/// Commands and environments of TeX, in small letters. A formula with others is written as it is shown: a page can call a
/// command anything.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "align", "aligned", "alignedat", "alpha", "angle", "approx", "arccos", "arcsin", "arctan", "array", "backslash",
    "bbox", "because", "begin", "beta", "bigcap", "bigcup", "bigg", "biggl", "biggr", "bigl", "bigoplus", "bigotimes",
    "bigr", "bigsqcup", "bigvee", "bigwedge", "binom", "bmatrix", "bmod", "boldsymbol", "boxed", "bullet", "cases",
    "cdot", "cdots", "cfrac", "choose", "circ", "color", "colon", "cong", "coprod", "cosh", "coth", "dagger", "dbinom",
    "ddots", "ddot", "delta", "dfrac", "displaystyle", "dots", "dotsb", "dotsc", "doteq", "downarrow", "emptyset",
    "epsilon", "equation", "equiv", "exists", "forall", "frac", "gamma", "gather", "gathered", "geqslant", "hbar",
    "hline", "hookrightarrow", "hphantom", "hspace", "iiint", "iint", "imath", "implies", "infty", "intercal", "iota",
    "jmath", "kappa", "lambda", "land", "langle", "lbrace", "lbrack", "lceil", "ldots", "left", "leftarrow",
    "leftrightarrow", "leqslant", "lfloor", "lgroup", "liminf", "limits", "limsup", "llbracket", "lnot",
    "longleftarrow", "longleftrightarrow", "longmapsto", "longrightarrow", "lvert", "mapsto", "mathbb", "mathbf",
    "mathbin", "mathcal", "mathclose", "mathds", "mathfrak", "mathit", "mathop", "mathopen", "mathord", "mathpunct",
    "mathrel", "mathrm", "mathscr", "mathsf", "mathtt", "matrix", "middle", "models", "nabla", "ngtr", "nless",
    "nolimits", "nonumber", "nmid", "notin", "odot", "oint", "omega", "omicron", "ominus", "operatorname", "oplus",
    "oslash", "otimes", "overbrace", "overleftarrow", "overline", "overrightarrow", "overset", "parallel", "partial",
    "perp", "phantom", "pmatrix", "pmod", "prec", "preceq", "prime", "prod", "propto", "qquad", "quad", "rangle",
    "rbrace", "rbrack", "rceil", "rfloor", "rgroup", "right", "rightarrow", "rightharpoonup", "rightleftharpoons",
    "rrbracket", "rule", "rvert", "scriptscriptstyle", "scriptstyle", "setminus", "sigma", "simeq", "sinh",
    "smallmatrix", "smallsetminus", "split", "sqcap", "sqcup", "sqrt", "square", "stackrel", "star", "subset",
    "subseteq", "subsetneq", "substack", "succ", "succeq", "supset", "supseteq", "tanh", "tbinom", "text", "textbf",
    "textcolor", "textit", "textrm", "textsf", "textstyle", "texttt", "tfrac", "therefore", "theta", "tilde", "times",
    "triangle", "underbrace", "underline", "underset", "uparrow", "updownarrow", "upsilon", "varepsilon", "varkappa",
    "varnothing", "varphi", "varpi", "varrho", "varsigma", "vartheta", "vdash", "vdots", "vert", "vmatrix", "vphantom",
    "vspace", "wedge", "widehat", "widetilde", "xleftarrow", "xrightarrow", "zeta",
];

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
