//! Plain text of titles and code blocks.

use super::dom::{Dom, Element, NodeData, NodeId};
use super::tags::{is_line, script_sign};

/// The maximum length of a superscript or subscript. Longer text is small print rather than an exponent or index.
const MAX_SCRIPT: usize = 20;

/// The maximum length of a line number.
const MAX_LINE_NUMBER: usize = 7;

/// The maximum number of nodes searched for line numbers.
const MAX_NUMBER_NODES: usize = 10_000;

/// A pending step of the text extraction.
enum PendingText {
    Node(NodeId),
    /// Text to append after the children of an element.
    Sign(&'static str),
    /// The end of a block element.
    LineEnd,
}

impl Dom {
    /// Returns the visible text below a node with its white space, and block elements on separate lines.
    pub(super) fn text(&self, id: NodeId) -> String {
        let mut text = String::new();
        // A line break is written only if something follows.
        let mut needs_break = false;
        let mut rest: Vec<PendingText> = self.children(id).rev().map(PendingText::Node).collect();
        while let Some(next) = rest.pop() {
            let id = match next {
                PendingText::Node(id) => id,
                PendingText::Sign(sign) => {
                    text.push_str(sign);
                    continue;
                }
                PendingText::LineEnd => {
                    needs_break = !text.is_empty() && !text.ends_with('\n');
                    continue;
                }
            };
            match &self.node(id).data {
                NodeData::Text(part) if part.is_empty() => {}
                NodeData::Text(part) => {
                    if needs_break && !part.starts_with('\n') {
                        text.push('\n');
                    }
                    needs_break = false;
                    text.push_str(part);
                }
                NodeData::Element(element) => {
                    if !self.is_shown(id) || self.is_beside_code(id, element) {
                        continue;
                    }
                    if element.tag() == "br" {
                        text.push('\n');
                    } else if is_line(element.tag()) {
                        if !text.is_empty() && !text.ends_with('\n') {
                            text.push('\n');
                        }
                        needs_break = false;
                        rest.push(PendingText::LineEnd);
                    } else if let Some((sign, before, after)) = self.script(id, element) {
                        text.push_str(sign);
                        text.push_str(before);
                        rest.push(PendingText::Sign(after));
                    }
                    rest.extend(self.children(id).rev().map(PendingText::Node));
                }
                NodeData::Other => rest.extend(self.children(id).rev().map(PendingText::Node)),
            }
        }
        text
    }

    /// Returns the sign for a superscript or subscript, and the parentheses around it if needed. Footnote references,
    /// ordinals and small print have no sign.
    pub(super) fn script(&self, id: NodeId, element: &Element) -> Option<(&'static str, &'static str, &'static str)> {
        let sign = script_sign(element.tag())?;
        let text = self.short_text(id, MAX_SCRIPT)?;
        let has_link = || self.descendants(id, |_| true).take(MAX_SCRIPT).any(|id| self.tag(id) == Some("a"));
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

    /// Returns `true` for line numbers and buttons that editors and highlighters add to code.
    fn is_beside_code(&self, id: NodeId, element: &Element) -> bool {
        matches!(element.tag(), "button" | "summary")
            || element.attribute("aria-hidden") == Some("true")
            || self.is_line_numbers(id, element)
            || self.is_link_to_line(id, element)
    }

    /// Returns `true` for a line number that links to its own line.
    fn is_link_to_line(&self, id: NodeId, element: &Element) -> bool {
        let is_number = |text: &String| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let text = || self.short_text(id, MAX_LINE_NUMBER).filter(is_number);
        element.tag() == "a"
            && element.attribute("href").and_then(|href| href.strip_prefix('#')).is_some_and(|line| {
                text().is_some_and(|number| line.trim_start_matches(|c: char| !c.is_ascii_digit()) == number)
            })
    }

    /// Returns `true` for line numbers beside code.
    pub(super) fn is_line_numbers(&self, id: NodeId, element: &Element) -> bool {
        let is_named = element.classes().any(|class| {
            let class = class.to_ascii_lowercase();
            class.contains("lineno") || class.contains("line-number") || class.contains("linenumber") || {
                matches!(class.as_str(), "blob-num" | "gutter" | "hljs-ln-numbers" | "ln" | "lnt" | "rouge-gutter")
            }
        });
        let is_number = |id: NodeId| match &self.node(id).data {
            NodeData::Text(text) => text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_whitespace()),
            _ => true,
        };
        is_named
            && self.descendants(id, |_| true).enumerate().all(|(count, id)| count < MAX_NUMBER_NODES && is_number(id))
    }

    /// Returns the language of a code block as set by highlighters: on the block, on its `code` element, or on an
    /// enclosing element.
    pub(super) fn language(&self, pre: NodeId) -> &str {
        let inner = self.children(pre).find(|&id| self.tag(id) == Some("code"));
        let around = std::iter::successors(self.node(pre).parent, |&id| self.node(id).parent).take(MAX_ANCESTORS);
        let elements = || inner.into_iter().chain([pre]).chain(around.clone()).filter_map(|id| self.element(id));
        let named =
            elements().find_map(|element| element.attribute("data-language").or(element.attribute("data-lang")));
        let rustdoc = || self.element(pre)?.classes().find(|&class| class == "rust");
        named
            .or_else(|| elements().flat_map(Element::classes).find_map(language_in_class))
            .or_else(rustdoc)
            .filter(|language| language.len() <= MAX_LANGUAGE)
            .filter(|language| language.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-#_".contains(&b)))
            .unwrap_or("")
    }
}

/// The maximum length of a language name. It is invisible on the page, so it must not carry text for models.
const MAX_LANGUAGE: usize = 24;

/// The number of enclosing elements searched for the language of a code block.
const MAX_ANCESTORS: usize = 3;

/// Returns the language that a class names, such as `language-rust`, `highlight-python` or `highlight-source-js`.
fn language_in_class(class: &str) -> Option<&str> {
    let named = ["language-", "lang-", "highlight-source-", "highlight-"];
    let language = named.iter().find_map(|prefix| class.strip_prefix(prefix))?;
    (!matches!(language, "" | "default" | "none" | "plaintext" | "text" | "txt")).then_some(language)
}
