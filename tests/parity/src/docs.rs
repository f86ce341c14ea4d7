//! Random doc comments.

use crate::Random;

/// The syntax of a doc comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DocStyle {
    Lines,
    Block,
    Stars,
    Attributes,
    /// Some lines, another attribute, the rest.
    Divided,
    /// Inside a `cfg_attr` whose predicate holds.
    Conditional,
}

/// A doc comment; empty if it has no lines.
#[derive(Clone, Debug)]
pub struct Docs {
    lines: Vec<String>,
    style: DocStyle,
}

const SENTENCES: &[&str] = &[
    "The newest first.",
    "How many, at most",
    "What it is called",
    "See [`String`] and `docs`.",
    "Quotes \"here\", a \\backslash\\, {braces} and 100 %.",
    "Ünïcödé 🦀 — and more…",
    "A very long sentence that goes on and on, with commas, until nobody remembers how it had begun, and then some",
    "Ends with spaces.   ",
    "<b>Marked</b> & up",
    "Is `a - b: c` text?",
    "- not a list",
    "x",
];

const LATER: &[&[&str]] = &[
    &["More for programmers."],
    &["* one", "* two", "  of them"],
    &["```", "let x = 1; // # Arguments", "```"],
    &["# Errors", "When it fails."],
    &["```", "# use m::hidden;", "# Arguments", "* `a` - in code", "```"],
    &["## Examples", "", "    indented();"],
    &["| a | b |", "|---|---|"],
    &["1. first", "2. second"],
];

impl Docs {
    /// Returns an empty comment.
    #[must_use]
    pub fn none() -> Self {
        Self { lines: Vec::new(), style: DocStyle::Lines }
    }

    /// Returns a comment in this percentage of cases.
    pub fn random(random: &mut Random, percent: usize) -> Self {
        if !random.chance(percent) {
            return Self::none();
        }
        let mut lines = Vec::new();
        if random.chance(8) {
            lines.push(String::new());
        }
        if random.chance(8) {
            lines.extend(["# A title".to_owned(), String::new()]);
        }
        for _ in 0..random.pick(&[1, 1, 1, 2, 3]) {
            lines.push(random.pick(SENTENCES).to_owned());
        }
        while random.chance(30) {
            lines.extend(std::iter::repeat_n(String::new(), random.between(1, 2)));
            lines.extend(random.pick(LATER).iter().map(|&line| line.to_owned()));
        }
        let style = random.pick(&[
            DocStyle::Lines,
            DocStyle::Lines,
            DocStyle::Lines,
            DocStyle::Lines,
            DocStyle::Block,
            DocStyle::Stars,
            DocStyle::Attributes,
            DocStyle::Divided,
        ]);
        Self { lines, style }
    }

    /// Returns the comment, sometimes inside a `cfg_attr`, which a parameter cannot have.
    #[must_use]
    pub fn sometimes_conditional(mut self, random: &mut Random) -> Self {
        if random.chance(3) {
            self.style = DocStyle::Conditional;
        }
        self
    }

    /// Returns a comment with a section for some of the parameters.
    pub fn with_arguments(random: &mut Random, names: &[&str]) -> Self {
        let mut docs = Self::random(random, 95);
        if names.is_empty() || !random.chance(35) {
            return docs;
        }
        let title = random.pick(&["# Arguments", "# Arguments", "## Arguments", "# Parameters", "# Args"]);
        docs.lines.extend([String::new(), title.to_owned()]);
        if random.chance(50) {
            docs.lines.push(String::new());
        }
        for name in names {
            let sentence = random.pick(SENTENCES).trim_end();
            match random.below(13) {
                0 => docs.lines.push(format!("* `{name}` - {sentence}")),
                1 => docs.lines.push(format!("- {name}: {sentence}")),
                2 => docs.lines.push(format!("* `{name}` — {sentence}")),
                3 => docs.lines.extend([format!("* `{name}` - {sentence}"), "  and on.".to_owned()]),
                4 => docs.lines.push(format!("+ `{name}`")),
                5 => docs.lines.push(format!("* **{name}** - {sentence}")),
                6 => docs.lines.push(format!("- [`{name}`] (optional): {sentence}")),
                7 => docs.lines.push(format!("* `{name}: u8` - {sentence}")),
                8 => docs.lines.push(format!("1. _{name}_ – {sentence}")),
                9 => docs.lines.push(format!("* `{name}`, `{}` - {sentence}", names[0])),
                10 => docs.lines.push(format!("* <b>{name}</b> - {sentence}")),
                11 => docs.lines.extend([
                    format!("* `{name}` - {sentence}"),
                    "  ```".to_owned(),
                    "  # let hidden = 1;".to_owned(),
                    "  ```".to_owned(),
                    "  * nested".to_owned(),
                ]),
                _ => {}
            }
        }
        if random.chance(30) {
            docs.lines.extend([String::new(), "# Errors".to_owned(), format!("* `{}` - not of the section", names[0])]);
        }
        docs
    }

    /// Renders the comment as source text.
    #[must_use]
    pub fn write(&self, indent: &str) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        let line = |text: &String| format!("{indent}///{}{text}\n", if text.is_empty() { "" } else { " " });
        let escaped = |text: &String| format!("{indent}#[doc = {text:?}]\n");
        let rows = |before: &str| {
            self.lines
                .iter()
                .map(|text| format!("{indent}{}\n", format!("{before}{text}").trim_end()))
                .collect::<String>()
        };
        match self.style {
            DocStyle::Lines => self.lines.iter().map(line).collect(),
            DocStyle::Attributes => self.lines.iter().map(escaped).collect(),
            DocStyle::Conditional => {
                self.lines.iter().map(|text| format!("{indent}#[cfg_attr(all(), doc = {text:?})]\n")).collect()
            }
            DocStyle::Block if self.lines.len() == 1 => format!("{indent}/** {} */\n", self.lines[0]),
            DocStyle::Block => format!("{indent}/**\n{}{indent}*/\n", rows("")),
            DocStyle::Stars => format!("{indent}/**\n{}{indent} */\n", rows(" * ")),
            DocStyle::Divided => {
                let (first, rest) = self.lines.split_at(1);
                let first: String = first.iter().map(line).collect();
                let rest: String = rest.iter().map(line).collect();
                format!("{first}{indent}#[allow(unused)]\n{rest}")
            }
        }
    }
}
