//! Rendering of mathematical formulas.

use super::RenderStyle;
use super::dom::{Element, NodeData, NodeId};
use super::render::{ClosingStep, RenderStep, Renderer};

/// The maximum number of nodes searched for the source of a formula.
const MAX_FORMULA_NODES: usize = 5_000;

/// The maximum length of a formula's source in characters.
const MAX_SOURCE: usize = 2_000;

/// The maximum number of visible bytes compared with the source.
const MAX_VISIBLE: usize = 8_000;

impl Renderer<'_> {
    /// Writes a formula as TeX if the page contains its source, or else as its visible parts.
    pub(super) fn math(&mut self, id: NodeId, element: &Element) {
        let Some(tex) = self.tex(id, element) else { return self.children(id) };
        self.write_tex(&tex, element.attribute("display") == Some("block"));
    }

    fn write_tex(&mut self, tex: &str, is_block: bool) {
        let sign = match (self.style, is_block) {
            (RenderStyle::Text, _) => "",
            (RenderStyle::Markdown, true) => "$$",
            (RenderStyle::Markdown, false) => "$",
        };
        self.out.raw(&format!("{sign}{tex}{sign}"));
    }

    /// Writes a formula that a script would render, `\(TeX\)` or `\[TeX\]`. Returns `false` if the element contains none.
    pub(super) fn unrendered_math(&mut self, id: NodeId, element: &Element) -> bool {
        if !element.classes().any(|class| matches!(class, "arithmatex" | "math")) {
            return false;
        }
        let (mut text, mut beside) = (String::new(), None);
        for child in self.dom.children(id) {
            match &self.dom.node(child).data {
                NodeData::Text(part) => text.push_str(part),
                // The number of the equation.
                NodeData::Element(element) if element.classes().any(|class| class == "eqno") => beside = Some(child),
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
            self.steps.push(RenderStep::Enter(number));
        }
        true
    }

    fn tex(&self, id: NodeId, element: &Element) -> Option<String> {
        let dom = self.dom;
        let is_tex = |id: &NodeId| {
            let encoding = dom.element(*id).and_then(|element| element.attribute("encoding"));
            encoding == Some("application/x-tex") && dom.tag(*id) == Some("annotation")
        };
        let annotation = dom.descendants(id, |_| true).take(MAX_FORMULA_NODES).find(is_tex);
        let tex = match annotation {
            Some(id) => dom.short_text(id, MAX_SOURCE)?,
            None => one_line(element.attribute("alttext").filter(|tex| tex.len() <= MAX_SOURCE)?),
        };
        let mut shown = String::new();
        for id in dom.descendants(id, |id| dom.is_shown(id)).take(MAX_FORMULA_NODES) {
            if let NodeData::Text(text) = &dom.node(id).data {
                if shown.len() + text.len() > MAX_VISIBLE {
                    return None;
                }
                shown.extend(text.split_whitespace());
            }
        }
        (!tex.is_empty() && matches_visible_text(&tex, &shown)).then_some(tex)
    }

    /// Writes a formula element with special layout, such as a fraction or an exponent.
    pub(super) fn formula(&mut self, id: NodeId, element: &Element) {
        let parts: Vec<NodeId> = self
            .dom
            .children(id)
            .filter(|&id| matches!(self.dom.node(id).data, NodeData::Element(_)))
            .take(4)
            .collect();
        let signs: &[&'static str] = match (element.tag(), parts.len()) {
            ("msup", 2) => &["", "^(", ")"],
            ("msub", 2) => &["", "_(", ")"],
            ("msubsup", 3) => &["", "_(", ")^(", ")"],
            ("mfrac", 2) => &["(", ")/(", ")"],
            ("msqrt", _) => {
                self.out.raw("sqrt(");
                return self.children_then(id, [ClosingStep::Append(")")]);
            }
            _ => return self.children(id),
        };
        if let [first, ..] = signs
            && !first.is_empty()
        {
            self.out.raw(first);
        }
        for (part, sign) in parts.iter().zip(&signs[1..]).rev() {
            self.steps.extend([RenderStep::Leave(ClosingStep::Append(sign)), RenderStep::Enter(*part)]);
        }
    }
}

/// Returns `true` if the words in a formula's TeX source also appear in its visible text. The source is invisible, so a
/// page could hide text for models in it.
fn matches_visible_text(tex: &str, shown: &str) -> bool {
    let is_visible = |word: &str| word.chars().count() < MIN_WORD || shown.contains(word);
    let is_allowed = |name: &str| is_visible(name) || TEX_NAMES.contains(&name.to_ascii_lowercase().as_str());
    tex.split('\\').enumerate().all(|(number, part)| {
        let (command, part) = if number == 0 { ("", part) } else { split_name(part) };
        // `\begin` and `\end` are followed by the environment's name in braces.
        let (environment, part) = match part.strip_prefix('{') {
            Some(part) if matches!(command, "begin" | "end") => split_name(part),
            _ => ("", part),
        };
        is_allowed(command) && is_allowed(environment) && part.split(|c: char| !c.is_alphabetic()).all(is_visible)
    })
}

/// Splits a text after its leading letters.
fn split_name(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len()))
}

/// The minimum length of a word. Shorter runs of letters may be names of colors or units.
const MIN_WORD: usize = 4;

/// Known TeX commands and environments, in lower case. A formula with other names is rendered from its visible parts,
/// because a page can define commands with any name.
#[rustfmt::skip]
const TEX_NAMES: &[&str] = &[
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
