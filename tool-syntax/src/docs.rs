//! Descriptions from doc comments.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};
use tool_model::{is_link_definition, nearest, reduce_links};

/// The first paragraph of a doc comment, and the items of its `# Arguments` section.
#[derive(Debug, Default)]
pub(crate) struct Docs {
    pub(crate) description: String,
    /// The text of each documented parameter.
    arguments: Vec<(String, String)>,
    /// The names under `# Arguments` that are no parameters, with their places.
    pub(crate) unknown: Vec<(String, Span)>,
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
        let lines = classify(&lines);
        let section = argument_section(&lines, parameters);
        let unknown = section.unknown.into_iter().map(|(name, line)| (name, spans[line])).collect();
        let arguments = section.items.into_iter().flat_map(|(names, text)| {
            let text = reduce(text);
            names.into_iter().map(move |name| (name, text.clone()))
        });
        Self { description: reduce(first_paragraph(&lines)), arguments: arguments.collect(), unknown, unread }
    }

    /// Returns the text of a parameter in the `# Arguments` section.
    pub(crate) fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.iter().find(|(argument, _)| argument == name).map(|(_, text)| text.as_str())
    }
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
    let (first, rest, is_marked) = name(item)?;
    let (_, behind) = note(rest.trim_start());
    let is_described = behind.trim_end().is_empty() || behind.starts_with([':', '-', '–', '—']);
    let is_identifier = first.starts_with(|sign: char| sign.is_alphabetic() || sign == '_') && first != "self";
    let is_path = item.contains(&format!("{first}::"));
    let is_known = parameters.iter().any(|parameter| parameter == first);
    if is_known || !is_identifier || is_path || !is_described {
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
    let is_parameter = |name: &&str| parameters.iter().any(|parameter| parameter == name);
    let (first, mut rest, is_marked) = name(item).filter(|(first, ..)| is_parameter(first))?;
    let mut names = vec![first.to_owned()];
    while let Some(next) = after_conjunction(rest)
        && let Some((another, behind, _)) = name(next).filter(|(another, ..)| is_parameter(another))
    {
        names.push(another.to_owned());
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
mod tests {
    use syn::{ItemFn, parse_quote};

    use super::*;

    fn read(item: &ItemFn) -> Docs {
        Docs::read(&item.attrs, &crate::tool::parameter_names(&item.sig))
    }

    fn description(comment: &str) -> String {
        let lines: String = comment.lines().map(|line| format!("/// {line}\n")).collect();
        read(&syn::parse_str(&format!("{lines}fn f() {{}}")).unwrap()).description
    }

    /// Asserts on the texts of the arguments `a`, `b`, .. of a section.
    fn section(lines: &[&str], expected: &[(&str, Option<&str>)]) {
        let comment: String = lines.iter().map(|line| format!("/// {line}\n")).collect();
        let parameters: String = expected.iter().map(|(name, _)| format!("r#{name}: u8, ")).collect();
        let item = format!("/// Does.\n///\n/// # Arguments\n{comment}fn f({parameters}) {{}}");
        let docs = read(&syn::parse_str(&item).unwrap());
        for (name, text) in expected {
            assert_eq!(docs.argument(name), *text, "{name} in {lines:#?}");
        }
    }

    #[test]
    fn reads_the_description_across_attributes_and_blank_lines() {
        let item: ItemFn = parse_quote! {
            ///
            /// The newest points
            #[inline]
            /// of one host.
            ///
            /// More.
            fn newest() {}
        };
        assert_eq!(read(&item).description, "The newest points of one host.");
    }

    #[test]
    fn reads_block_comments_like_line_comments() {
        let item: ItemFn = syn::parse_str("/** First line\n * second line.\n *\n * Rest.\n */\nfn f() {}").unwrap();
        assert_eq!(read(&item).description, "First line second line.");
        let item = "/**\n    Does.\n\n    # Arguments\n    * `a` - one of:\n      * `x` - this\n    * `b` - two\n*/\nfn f(a: u8, b: u8) {}";
        let docs = read(&syn::parse_str(item).unwrap());
        assert_eq!(docs.argument("a"), Some("one of: * `x` - this"));
        assert_eq!(docs.argument("b"), Some("two"));
    }

    #[test]
    fn reads_the_usual_forms_of_the_arguments_section() {
        let item: ItemFn = parse_quote! {
            /// Text.
            ///
            /// # Arguments
            ///
            /// * `host` - Host name,
            ///   such as `web-1`.
            /// - limit: How many.
            /// * `unit` — The unit.
            ///
            /// # Errors
            /// * `none` - not an argument
            fn f(host: String, limit: u8, unit: String, none: u8) {}
        };
        let docs = read(&item);
        assert_eq!(docs.argument("host"), Some("Host name, such as `web-1`."));
        assert_eq!(docs.argument("limit"), Some("How many."));
        assert_eq!(docs.argument("unit"), Some("The unit."));
        assert_eq!(docs.argument("none"), None);
    }

    #[test]
    fn recognises_every_usual_spelling_of_a_name() {
        section(
            &[
                "* **a** - bold",
                "* __b__ - bold, too",
                "* _c_ - emphasis",
                "* [`d`] - a link",
                "* [`e`](#e): a link with a target",
                "* `f: u8` - with its type",
                "* `r#type` - raw",
                "* r#match – bare and raw",
                "* `g`, `h` and `i` - three of them",
                "* `j` (optional) - with a remark",
                "* **`k`** -- both",
                "1. `l` - numbered",
                "+ `m` without a dash",
                "* `_n` - unused",
                "* *o* - with stars",
                "* `__p` - with underscores",
            ],
            &[
                ("a", Some("bold")),
                ("b", Some("bold, too")),
                ("c", Some("emphasis")),
                ("d", Some("a link")),
                ("e", Some("a link with a target")),
                ("f", Some("with its type")),
                ("type", Some("raw")),
                ("match", Some("bare and raw")),
                ("g", Some("three of them")),
                ("h", Some("three of them")),
                ("i", Some("three of them")),
                ("j", Some("(optional) with a remark")),
                ("k", Some("both")),
                ("l", Some("numbered")),
                ("m", Some("without a dash")),
                ("_n", Some("unused")),
                ("o", Some("with stars")),
                ("__p", Some("with underscores")),
            ],
        );
    }

    #[test]
    fn a_bullet_that_is_not_understood_ends_the_previous_one() {
        section(
            &["* `a` - first", "* <b>b</b> - in HTML", "  and on", "* c", "* `gone` - no parameter", "* d of this"],
            &[("a", Some("first")), ("b", None), ("c", None), ("d", None)],
        );
    }

    #[test]
    fn a_nested_list_belongs_to_its_item() {
        section(
            &["* `a` - one of:", "  - `x` - this", "  - `y` - that", "* `b` - second", "  - `c` - nested, and a name"],
            &[
                ("a", Some("one of: - `x` - this - `y` - that")),
                ("b", Some("second")),
                ("c", Some("nested, and a name")),
            ],
        );
    }

    #[test]
    fn emphasis_and_commas_in_text_are_not_names() {
        section(
            &["* `a` - first,", "  **b** of them", "  *c* too", "* `b`, the second - of two", "* `c`: `d`, or so"],
            &[
                ("a", Some("first, **b** of them *c* too")),
                ("b", Some("the second - of two")),
                ("c", Some("`d`, or so")),
                ("d", None),
            ],
        );
    }

    #[test]
    fn code_blocks_are_not_prose() {
        assert_eq!(description("Adds.\n```\n# use m::add;\nadd(1);\n```\nMore."), "Adds.");
        assert_eq!(description("~~~text\nAdds.\n~~~\nIn words."), "In words.");
        assert_eq!(description("Calls ```add``` at once.\nAnd on."), "Calls ```add``` at once. And on.");
        assert_eq!(description("````\n```\n# A\n````\nText."), "Text.");
        section(
            &["* `a` - first, such as", "  ```", "  # let x = 1;", "  ```", "* `b` - second"],
            &[("a", Some("first, such as")), ("b", Some("second"))],
        );
        let item: ItemFn = syn::parse_str(
            "/// Does.\n///\n/// ```\n/// # Arguments\n/// * `a` - in code\n/// ```\n/// # Arguments\n/// * `a` - real\nfn f(a: u8) {}",
        )
        .unwrap();
        assert_eq!(read(&item).argument("a"), Some("real"));
    }

    #[test]
    fn a_title_is_not_the_description() {
        assert_eq!(description("# Title\nText."), "Text.");
        assert_eq!(description("# Title\n\n## Another\n\nText\nand more."), "Text and more.");
        assert_eq!(description("# Arguments\n* `a` - An a."), "");
        assert_eq!(description("# Title\n# Errors\nAlways."), "");
    }
}
