//! Descriptions from doc comments.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Signature};
use tool_model::{is_for_tests, is_link_definition, nearest, reduce_links};

/// The first paragraph of a doc comment, and the items of its `# Arguments` section.
#[derive(Debug, Default)]
pub(crate) struct Docs {
    pub(crate) description: String,
    /// The text of each documented parameter.
    arguments: Vec<(String, String)>,
    /// The names under `# Arguments` that are no parameters, with their places.
    pub(crate) unknown: Vec<(String, Span)>,
    /// `true` if the documentation reserves the function for tests.
    pub(crate) is_for_tests: bool,
    /// The first `#[doc = ..]` whose value is not a literal.
    pub(crate) unread: Option<Expr>,
}

impl Docs {
    /// Reads all doc lines of an item, skipping other attributes. A bullet describes an argument only if it names one of
    /// the `parameters`.
    pub(crate) fn read(attributes: &[Attribute], parameters: &[String]) -> Self {
        let mut unread = None;
        let mut lines = Vec::new();
        let mut spans = Vec::new();
        for value in attributes.iter().filter_map(doc_value) {
            match value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
                    lines.extend(clean_lines(&text.value()));
                    spans.resize(lines.len(), value.span());
                }
                other => unread = unread.or_else(|| Some(other.clone())),
            }
        }
        let definitions: String =
            lines.iter().filter(|line| is_link_definition(line)).map(|line| format!("\n{line}")).collect();
        let reduce = |text: String| reduce_links(&(text + &definitions));
        let is_for_tests = is_for_tests(&lines.join("\n"));
        let lines = classify(&lines);
        let section = argument_section(&lines, parameters);
        let unknown = section.unknown.into_iter().map(|(name, line)| (name, spans[line])).collect();
        let arguments = section.items.into_iter().flat_map(|(names, text)| {
            let text = reduce(text);
            names.into_iter().map(move |name| (name, text.clone()))
        });
        let description = reduce(first_paragraph(&lines));
        Self { description, arguments: arguments.collect(), unknown, is_for_tests, unread }
    }

    /// Returns the text of a parameter in the `# Arguments` section.
    pub(crate) fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.iter().find(|(argument, _)| argument == name).map(|(_, text)| text.as_str())
    }
}

/// Returns the items under `# Arguments` that describe no parameter: the name, and the indexes of the attributes with its
/// lines. If nothing else is in the section, its heading belongs to the last item. Items inside of a block comment are left
/// out, because their lines are one attribute.
#[must_use]
pub fn stale_argument_docs(attributes: &[Attribute], signature: &Signature) -> Vec<(String, Vec<usize>)> {
    let mut lines = Vec::new();
    let mut places = Vec::new();
    for (index, attribute) in attributes.iter().enumerate() {
        if let Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) = doc_value(attribute) {
            let added = clean_lines(&text.value());
            places.extend(added.iter().map(|_| Some(index).filter(|_| added.len() == 1)));
            lines.extend(added);
        }
    }
    let classified = classify(&lines);
    let section = argument_section(&classified, &crate::tool::parameter_names(signature));
    let attributes_of = |lines: &[usize]| lines.iter().map(|&line| places[line]).collect::<Option<Vec<usize>>>();
    let mut removed = Vec::new();
    let stale = section.unknown.into_iter().filter_map(|(name, first)| {
        let DocLine::Text { indent: outer, .. } = classified[first] else { return None };
        let belongs = |line: &&DocLine<'_>| match line {
            DocLine::Text { indent, text } => *indent > outer || bullet(text).is_none(),
            _ => false,
        };
        let count = 1 + classified[first + 1..].iter().take_while(belongs).count();
        let item: Vec<usize> = (first..first + count).collect();
        let attributes = attributes_of(&item)?;
        removed.extend(item);
        Some((name, attributes))
    });
    let mut stale: Vec<(String, Vec<usize>)> = stale.collect();
    if let Some((_, last)) = stale.last_mut() {
        last.extend(attributes_of(&emptied_section(&lines, &classified, &removed)).unwrap_or_default());
    }
    stale
}

/// Returns the heading of the `# Arguments` section and its blank lines, if nothing else remains without the removed lines.
fn emptied_section(lines: &[String], classified: &[DocLine<'_>], removed: &[usize]) -> Vec<usize> {
    let is_heading = |line: &DocLine<'_>| matches!(line, DocLine::Heading(title) if is_arguments(title));
    let Some(heading) = classified.iter().position(is_heading) else { return Vec::new() };
    let is_next = |line: &DocLine<'_>| matches!(line, DocLine::Heading(_));
    let next = classified[heading + 1..].iter().position(is_next).map(|count| heading + 1 + count);
    let end = next.unwrap_or(lines.len());
    // A link definition is no blank line here.
    let is_blank = |line: &usize| lines[*line].trim().is_empty();
    if !(heading + 1..end).all(|line| removed.contains(&line) || is_blank(&line)) {
        return Vec::new();
    }
    // The blank lines before the heading separate the next section.
    let before = if next.is_some() { 0 } else { (0..heading).rev().take_while(is_blank).count() };
    (heading - before..end).filter(|line| !removed.contains(line)).collect()
}

/// Returns the value of `#[doc = ..]`.
pub(crate) fn doc_value(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(&pair.value),
        _ => None,
    }
}

/// Splits one doc attribute into lines. A block comment has several, indented and often with leading stars.
fn clean_lines(text: &str) -> Vec<String> {
    if !text.contains('\n') {
        return vec![text.strip_prefix(' ').unwrap_or(text).trim_end().to_owned()];
    }
    let rest = || text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let is_starred = rest().all(|line| line.trim_start().starts_with('*'));
    let indent = rest().map(indent_of).min().unwrap_or(0);
    let strip = |line: &str| {
        let line = match line.trim_start().strip_prefix('*').filter(|_| is_starred) {
            Some(line) => line.strip_prefix(' ').unwrap_or(line),
            None => &line[indent_of(line).min(indent)..],
        };
        line.trim_end().to_owned()
    };
    text.lines().map(strip).collect()
}

/// Counts the leading spaces and tabs.
fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// A line of Markdown, as far as descriptions depend on it.
#[derive(Clone, Copy, Debug)]
enum DocLine<'a> {
    Blank,
    Heading(&'a str),
    /// A line of a fenced code block, its fences included. Its `# hidden` lines are not headings.
    Code,
    Text {
        indent: usize,
        text: &'a str,
    },
}

fn classify(lines: &[String]) -> Vec<DocLine<'_>> {
    let mut open: Option<(char, usize)> = None;
    let mut classified = Vec::with_capacity(lines.len());
    for line in lines {
        let (indent, text) = (indent_of(line), line.trim());
        let fence = fence(text);
        classified.push(match (open, fence) {
            (Some((sign, length)), fence) => {
                let closes =
                    |(other, count, info): (char, usize, &str)| other == sign && count >= length && info.is_empty();
                if fence.is_some_and(closes) {
                    open = None;
                }
                DocLine::Code
            }
            (None, Some((sign, length, _))) => {
                open = Some((sign, length));
                DocLine::Code
            }
            (None, None) => match heading(text) {
                _ if text.is_empty() || is_link_definition(text) => DocLine::Blank,
                Some(title) if indent < 4 => DocLine::Heading(title),
                _ => DocLine::Text { indent, text },
            },
        });
    }
    classified
}

/// Parses the fence of a code block into its character, its length and its info string.
fn fence(text: &str) -> Option<(char, usize, &str)> {
    let sign = text.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let info = text.trim_start_matches(sign);
    let length = text.len() - info.len();
    // "```code``` in a sentence" is inline code.
    (length >= 3 && !(sign == '`' && info.contains('`'))).then(|| (sign, length, info.trim()))
}

fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    (title.len() < line.len() && title.starts_with(' ')).then(|| title.trim())
}

fn is_arguments(title: &str) -> bool {
    let title = title.trim_end_matches([':', '#', ' ']);
    ["Arguments", "Args", "Parameters"].iter().any(|name| title.eq_ignore_ascii_case(name))
}

/// Returns `true` for the sections that rustdoc recommends, which do not belong to the description.
fn is_section(title: &str) -> bool {
    const SECTIONS: [&str; 6] = ["Errors", "Panics", "Safety", "Example", "Examples", "Returns"];
    is_arguments(title) || SECTIONS.iter().any(|name| title.eq_ignore_ascii_case(name))
}

/// Joins the lines of the first paragraph. Code and a title before it are skipped.
fn first_paragraph(lines: &[DocLine<'_>]) -> String {
    let is_before = |line: &&DocLine<'_>| match line {
        DocLine::Blank | DocLine::Code => true,
        DocLine::Heading(title) => !is_section(title),
        DocLine::Text { .. } => false,
    };
    let paragraph = lines.iter().skip_while(is_before).map_while(|line| match line {
        DocLine::Text { text, .. } => Some(*text),
        _ => None,
    });
    paragraph.collect::<Vec<_>>().join(" ")
}

/// The `# Arguments` section.
#[derive(Default)]
struct ArgumentSection {
    /// The parameters of each item, and its text.
    items: Vec<(Vec<String>, String)>,
    /// The names of items that are no parameters, with the indices of their lines.
    unknown: Vec<(String, usize)>,
}

/// Reads the `# Arguments` section.
///
/// An item ends at a blank line, a code block or the next bullet, even if that bullet is not understood: its text must
/// not be attributed to another argument. A nested list belongs to its item, unless it names a parameter.
fn argument_section(lines: &[DocLine<'_>], parameters: &[String]) -> ArgumentSection {
    let is_before = |(_, line): &(usize, &DocLine<'_>)| !matches!(line, DocLine::Heading(title) if is_arguments(title));
    let ArgumentSection { mut items, mut unknown } = ArgumentSection::default();
    // The indentation of the bullet whose text is being read.
    let mut open: Option<usize> = None;
    // The indentation of the list.
    let mut outermost: Option<usize> = None;
    for (index, line) in lines.iter().enumerate().skip_while(is_before).skip(1) {
        match line {
            DocLine::Heading(_) => break,
            DocLine::Blank | DocLine::Code => open = None,
            DocLine::Text { indent, text } => {
                let item = bullet(text);
                if let Some(item) = item
                    && *indent <= *outermost.get_or_insert(*indent)
                {
                    unknown.extend(unknown_name(item, parameters).map(|name| (name, index)));
                }
                if let Some(found) = item.and_then(|item| described(item, parameters)) {
                    items.push(found);
                    open = Some(*indent);
                } else if item.is_some() && open.is_some_and(|at| *indent <= at) {
                    open = None;
                } else if let (Some(_), Some((_, known))) = (open, items.last_mut()) {
                    if !known.is_empty() {
                        known.push(' ');
                    }
                    known.push_str(text);
                }
            }
        }
    }
    ArgumentSection { items, unknown }
}

/// Returns the name that a list item describes if it is no parameter. A bare word may be the start of a sentence, so it
/// counts only if it resembles a parameter.
fn unknown_name(item: &str, parameters: &[String]) -> Option<String> {
    let (first, rest, is_marked) = without_emphasis(name(item)?, parameters);
    let (_, behind) = note(rest.trim_start());
    let is_described = behind.trim_end().is_empty() || behind.starts_with([':', '-', '–', '—']);
    let is_identifier = first.starts_with(|sign: char| sign.is_alphabetic() || sign == '_') && first != "self";
    let is_path = item.contains(&format!("{first}::"));
    if parameter(first, parameters).is_some() || !is_identifier || is_path || !is_described {
        return None;
    }
    let resembles = || !nearest(first, parameters.iter().map(String::as_str)).is_empty();
    (is_marked || (!behind.is_empty() && resembles())).then(|| first.to_owned())
}

/// Strips the marker of a list item: `*`, `-`, `+`, `1.` or `1)`.
fn bullet(line: &str) -> Option<&str> {
    let rest = match line.strip_prefix(['*', '-', '+']) {
        Some(rest) => rest,
        None => {
            let rest = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
            (rest.len() < line.len()).then_some(rest)?.strip_prefix(['.', ')'])?
        }
    };
    let is_marker = rest.starts_with([' ', '\t', '`', '[']);
    is_marker.then(|| rest.trim_start())
}

/// Parses a list item such as "`host` - Host name" into the parameters that it names and their text.
fn described(item: &str, parameters: &[String]) -> Option<(Vec<String>, String)> {
    let (first, mut rest, is_marked) = name(item).map(|found| without_emphasis(found, parameters))?;
    let mut names = vec![parameter(first, parameters)?.clone()];
    while let Some(next) = after_conjunction(rest)
        && let Some((another, behind, _)) = name(next)
        && let Some(another) = parameter(another, parameters)
    {
        names.push(another.clone());
        rest = behind;
    }
    let (note, behind) = note(rest.trim_start());
    let text = behind.trim_start_matches([':', '-', '–', '—']);
    // A bare word at the start of a sentence is not a parameter name.
    if text.len() == behind.len() && !is_marked {
        return None;
    }
    let text = text.trim_start_matches(',').trim();
    Some((names, if note.is_empty() { text.to_owned() } else { format!("{note} {text}").trim_end().to_owned() }))
}

/// Returns the parameter of this name, or the one that is marked as unused: `_name`.
fn parameter<'p>(name: &str, parameters: &'p [String]) -> Option<&'p String> {
    let unused = || parameters.iter().find(|parameter| parameter.strip_prefix('_') == Some(name));
    parameters.iter().find(|parameter| *parameter == name).or_else(unused)
}

/// Strips the underscores of `_unit_price_`, if a parameter is called `unit_price`.
fn without_emphasis<'a>(found: (&'a str, &'a str, bool), parameters: &[String]) -> (&'a str, &'a str, bool) {
    let (name, rest, _) = found;
    let inner = name.strip_prefix('_').and_then(|name| name.strip_suffix('_'));
    let is_parameter = |name: &&str| parameters.iter().any(|parameter| parameter == name);
    match inner.filter(|inner| is_parameter(inner) && !is_parameter(&name)) {
        Some(inner) => (inner, rest, true),
        None => found,
    }
}

/// Strips a comma, `and`, `or`, `&` or `/` between two names.
fn after_conjunction(rest: &str) -> Option<&str> {
    let rest = rest.trim_start();
    let behind_comma = rest.strip_prefix(',').map(str::trim_start);
    let next = behind_comma.unwrap_or(rest);
    ["and ", "or ", "&", "/"].iter().find_map(|word| next.strip_prefix(word)).map(str::trim_start).or(behind_comma)
}

/// Splits off a note in parentheses, as in "`limit` (optional) - How many".
fn note(rest: &str) -> (&str, &str) {
    match rest.strip_prefix('(').and_then(|inner| inner.find(')')) {
        Some(end) => (&rest[..end + 2], rest[end + 2..].trim_start()),
        None => ("", rest),
    }
}

/// Splits off a name: `host`, `r#type`, "`host`", "`host: &str`", `**host**`, `_host_`, "[`host`]". The third
/// value is `true` if markup marks it as a name.
fn name(text: &str) -> Option<(&str, &str, bool)> {
    for (before, after) in [("**", "**"), ("__", "__"), ("*", "*"), ("_", "_"), ("[", "]"), ("`", "`")] {
        let Some((marked, rest)) = text.strip_prefix(before).and_then(|inner| inner.split_once(after)) else {
            continue;
        };
        // The underscores of `_host` and `a_b` belong to the name.
        if before.starts_with('_') && (marked.is_empty() || rest.starts_with(is_name_character)) {
            continue;
        }
        let rest = if before == "[" { without_link(rest) } else { rest };
        let inner = if before == "`" { marked.split(':').next().unwrap_or(marked).trim() } else { marked.trim() };
        return name(inner).filter(|(_, left, _)| left.is_empty()).map(|(found, _, _)| (found, rest, true));
    }
    let text = text.strip_prefix("r#").unwrap_or(text);
    let end = text.find(|sign| !is_name_character(sign)).unwrap_or(text.len());
    (end > 0).then(|| (&text[..end], &text[end..], false))
}

fn is_name_character(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// Skips the target of a Markdown link: `(#fragment)` or `[reference]`.
fn without_link(rest: &str) -> &str {
    let target = [('(', ')'), ('[', ']')].into_iter().find_map(|(open, close)| {
        let inner = rest.strip_prefix(open)?;
        inner.find(close).map(|end| &inner[end + close.len_utf8()..])
    });
    target.unwrap_or(rest)
}

#[cfg(test)]
mod tests;
