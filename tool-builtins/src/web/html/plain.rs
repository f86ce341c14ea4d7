//! The text of an element without marks: titles and code.

use super::dom::{Data, Dom, Element, Id};
use super::tags::{is_line, script_sign};

/// Longer raised or lowered text is small print rather than an exponent or an index.
const LONGEST_SCRIPT: usize = 20;

/// No line has a longer number.
const LONGEST_NUMBER: usize = 7;

/// More nodes are not looked through for line numbers.
const MOST_NUMBERS: usize = 10_000;

/// What remains to be written.
enum Rest {
    Node(Id),
    /// A sign after the children of an element.
    Sign(&'static str),
    /// The end of an element that stands on lines of its own.
    LineEnd,
}

impl Dom {
    /// Returns the shown text below a node as it stands there, with elements of lines of their own on such lines.
    pub(super) fn text(&self, id: Id) -> String {
        let mut text = String::new();
        // A line end is written when something follows it.
        let mut is_owed = false;
        let mut rest: Vec<Rest> = self.children(id).rev().map(Rest::Node).collect();
        while let Some(next) = rest.pop() {
            let id = match next {
                Rest::Node(id) => id,
                Rest::Sign(sign) => {
                    text.push_str(sign);
                    continue;
                }
                Rest::LineEnd => {
                    is_owed = !text.is_empty() && !text.ends_with('\n');
                    continue;
                }
            };
            match &self.node(id).data {
                Data::Text(part) if part.is_empty() => {}
                Data::Text(part) => {
                    if is_owed && !part.starts_with('\n') {
                        text.push('\n');
                    }
                    is_owed = false;
                    text.push_str(part);
                }
                Data::Element(element) => {
                    if !self.is_shown(id) || self.is_beside_code(id, element) {
                        continue;
                    }
                    if element.tag() == "br" {
                        text.push('\n');
                    } else if is_line(element.tag()) {
                        if !text.is_empty() && !text.ends_with('\n') {
                            text.push('\n');
                        }
                        is_owed = false;
                        rest.push(Rest::LineEnd);
                    } else if let Some((sign, before, after)) = self.script(id, element) {
                        text.push_str(sign);
                        text.push_str(before);
                        rest.push(Rest::Sign(after));
                    }
                    rest.extend(self.children(id).rev().map(Rest::Node));
                }
                Data::Other => rest.extend(self.children(id).rev().map(Rest::Node)),
            }
        }
        text
    }

    /// Returns the sign for a raised or lowered text, and the parentheses around it if it needs them. Footnotes,
    /// ordinals and small print have none.
    pub(super) fn script(&self, id: Id, element: &Element) -> Option<(&'static str, &'static str, &'static str)> {
        let sign = script_sign(element.tag())?;
        let text = self.short_text(id, LONGEST_SCRIPT)?;
        let has_link = || self.below(id, |_| true).take(LONGEST_SCRIPT).any(|id| self.tag(id) == Some("a"));
        let is_mark = matches!(
            text.to_ascii_lowercase().as_str(),
            "" | "st"
                | "nd"
                | "rd"
                | "th"
                | "er"
                | "ème"
                | "tm"
                | "sm"
                | "™"
                | "℠"
                | "®"
                | "©"
                | "*"
                | "**"
                | "†"
                | "‡"
        );
        if is_mark || text.starts_with('[') || has_link() {
            return None;
        }
        let is_simple = text.chars().all(char::is_alphanumeric);
        Some(if is_simple { (sign, "", "") } else { (sign, "(", ")") })
    }

    /// Returns `true` for what editors and highlighters put beside code: line numbers and buttons.
    fn is_beside_code(&self, id: Id, element: &Element) -> bool {
        matches!(element.tag(), "button" | "summary")
            || element.attribute("aria-hidden") == Some("true")
            || self.is_line_numbers(id, element)
            || self.is_link_to_line(id, element)
    }

    /// Returns `true` for the number of a line that links to itself.
    fn is_link_to_line(&self, id: Id, element: &Element) -> bool {
        let is_number = |text: &String| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let text = || self.short_text(id, LONGEST_NUMBER).filter(is_number);
        element.tag() == "a"
            && element.attribute("href").and_then(|href| href.strip_prefix('#')).is_some_and(|line| {
                text().is_some_and(|number| line.trim_start_matches(|c: char| !c.is_ascii_digit()) == number)
            })
    }

    /// Returns `true` for line numbers beside code.
    pub(super) fn is_line_numbers(&self, id: Id, element: &Element) -> bool {
        let is_named = element.classes().any(|class| {
            let class = class.to_ascii_lowercase();
            class.contains("lineno") || class.contains("line-number") || class.contains("linenumber") || {
                matches!(class.as_str(), "blob-num" | "gutter" | "hljs-ln-numbers" | "ln" | "lnt" | "rouge-gutter")
            }
        });
        let is_number = |id: Id| match &self.node(id).data {
            Data::Text(text) => text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_whitespace()),
            _ => true,
        };
        is_named && self.below(id, |_| true).enumerate().all(|(count, id)| count < MOST_NUMBERS && is_number(id))
    }

    /// Returns the language of a block of code as highlighters note it: on the block, on the `code` in it, or on one of
    /// the elements around it.
    pub(super) fn language(&self, pre: Id) -> &str {
        let inner = self.children(pre).find(|&id| self.tag(id) == Some("code"));
        let around = std::iter::successors(self.node(pre).parent, |&id| self.node(id).parent).take(MOST_AROUND);
        let elements = || inner.into_iter().chain([pre]).chain(around.clone()).filter_map(|id| self.element(id));
        let named =
            elements().find_map(|element| element.attribute("data-language").or(element.attribute("data-lang")));
        let rustdoc = || self.element(pre)?.classes().find(|&class| class == "rust");
        named
            .or_else(|| elements().flat_map(Element::classes).find_map(language_in_class))
            .or_else(rustdoc)
            .filter(|language| language.len() <= LONGEST_LANGUAGE)
            .filter(|language| language.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-#_".contains(&b)))
            .unwrap_or("")
    }
}

/// A longer name of a language is none. It is not shown to people, and could say anything.
const LONGEST_LANGUAGE: usize = 24;

/// How many elements around a block of code may say its language.
const MOST_AROUND: usize = 3;

/// Returns the language that a class names, such as `language-rust`, `highlight-python` or `highlight-source-js`.
fn language_in_class(class: &str) -> Option<&str> {
    let named = ["language-", "lang-", "highlight-source-", "highlight-"];
    let language = named.iter().find_map(|prefix| class.strip_prefix(prefix))?;
    (!matches!(language, "" | "default" | "none" | "plaintext" | "text" | "txt")).then_some(language)
}
