//! Rustdoc links in descriptions, which mean nothing to a model.

/// Reduces the intra-doc links of a text to their texts, and removes the definitions of link references.
///
/// Links to web pages stay. So do brackets that are not links: rustdoc can resolve a name, this function judges by its
/// form.
///
/// ```
/// use tool_model::reduce_links;
///
/// assert_eq!(reduce_links("An [`Order`](crate::Order) of a [Customer]."), "An `Order` of a Customer.");
/// assert_eq!(reduce_links("See [the manual](https://example.org)."), "See [the manual](https://example.org).");
/// assert_eq!(reduce_links("A value in [0, 1]."), "A value in [0, 1].");
/// ```
#[must_use]
pub fn reduce_links(text: &str) -> String {
    if !text.contains('[') {
        return text.to_owned();
    }
    let (definitions, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| is_link_definition(line));
    let labels: Vec<String> = definitions.iter().filter_map(|line| Some(label(line)?.0.to_lowercase())).collect();
    let joined = lines.join("\n");
    let reduced = reduce(&joined, &labels);
    if definitions.is_empty() { reduced } else { reduced.trim_end().to_owned() }
}

/// Returns `true` for a line that defines a link reference: `[Order]: crate::Order`.
#[must_use]
pub fn is_link_definition(line: &str) -> bool {
    let target = label(line).and_then(|(name, rest)| rest.strip_prefix(':').filter(|_| !name.starts_with('^')));
    target.is_some_and(|target| {
        let mut words = target.split_whitespace();
        // After the target only a title may follow.
        words.next().is_some() && words.next().is_none_or(|title| title.starts_with(['"', '\'', '(']))
    })
}

/// Splits a line that starts with `[label]`.
fn label(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    (!name.is_empty() && !name.contains('[')).then_some((name, rest))
}

fn reduce(text: &str, labels: &[String]) -> String {
    let mut reduced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let link = (sign == '[' && may_start_link(&reduced)).then(|| link(rest, labels)).flatten();
        let length = if let Some((shown, length)) = link {
            reduced.push_str(shown);
            length
        } else if sign == '`' {
            let length = code_span(rest);
            reduced.push_str(&rest[..length]);
            length
        } else {
            reduced.push(sign);
            sign.len_utf8()
        };
        rest = &rest[length..];
    }
    reduced
}

/// Returns `false` behind a name or an escape: `row[0][1]` is no link.
fn may_start_link(before: &str) -> bool {
    !before.ends_with(|sign: char| sign.is_alphanumeric() || matches!(sign, '_' | ']' | ')' | '\\' | '!'))
}

/// Returns the length of the code span at the start of a text, or of its backticks if it is not closed.
fn code_span(text: &str) -> usize {
    let ticks = text.len() - text.trim_start_matches('`').len();
    let mut position = ticks;
    while let Some(start) = text[position..].find('`').map(|found| position + found) {
        let run = text[start..].len() - text[start..].trim_start_matches('`').len();
        if run == ticks {
            return start + run;
        }
        position = start + run;
    }
    ticks
}

/// Parses a link at the start of a text. Returns the text to show and the length, or `None` if it is to stay.
fn link<'a>(text: &'a str, labels: &[String]) -> Option<(&'a str, usize)> {
    let end = closing(text, '[', ']')?;
    let shown = &text[1..end];
    let after = &text[end + 1..];
    if after.starts_with('(') {
        let close = closing(after, '(', ')')?;
        let target = after[1..close].split_whitespace().next().unwrap_or_default();
        return (!is_web(target)).then_some((shown, end + 1 + close + 1));
    }
    if after.starts_with('[') {
        let close = closing(after, '[', ']')?;
        let reference = if close == 1 { shown } else { &after[1..close] };
        let is_known = is_item(reference) || labels.contains(&reference.to_lowercase());
        return is_known.then_some((shown, end + 1 + close + 1));
    }
    let is_link = is_item(shown) || labels.contains(&shown.to_lowercase());
    is_link.then_some((shown, end + 1))
}

/// Returns the position of the bracket that closes the first one.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (position, sign) in text.char_indices() {
        if sign == open {
            depth += 1;
        } else if sign == close {
            depth -= 1;
            if depth == 0 {
                return Some(position);
            }
        }
    }
    None
}

fn is_web(target: &str) -> bool {
    ["http://", "https://", "mailto:", "ftp://"].iter().any(|scheme| target.trim_start_matches('<').starts_with(scheme))
}

/// Returns `true` for a name that looks like an item: code, a path, a call, a macro or a type.
fn is_item(shown: &str) -> bool {
    if let Some(code) = shown.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
        return !code.is_empty() && !code.contains('`');
    }
    // A disambiguator: `struct@Order`.
    let name = shown.split_once('@').map_or(shown, |(_, name)| name);
    let bare = name.trim_end_matches("()").trim_end_matches('!');
    let is_path = !bare.is_empty() && bare.chars().all(|sign| sign.is_alphanumeric() || matches!(sign, '_' | ':'));
    let is_type = bare.starts_with(char::is_uppercase) && bare.contains(char::is_lowercase);
    is_path && (is_type || bare.contains("::") || bare.len() < name.len() || name.len() < shown.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduces_every_form_of_intra_doc_link() {
        for (text, reduced) in [
            ("An [`Order`](crate::Order).", "An `Order`."),
            ("An [order](super::Order \"title\").", "An order."),
            ("An [order](#fields).", "An order."),
            ("[Order] first", "Order first"),
            ("[`Order`], [`Order::id`]", "`Order`, `Order::id`"),
            ("[orders::place] or [place()] or [print!]", "orders::place or place() or print!"),
            ("[struct@order]", "struct@order"),
            ("the [order][Order] and [Order][]", "the order and Order"),
            ("([`Order`])", "(`Order`)"),
        ] {
            assert_eq!(reduce_links(text), reduced);
        }
    }

    #[test]
    fn keeps_what_is_no_intra_doc_link() {
        for text in [
            "See [the manual](https://example.org/a_(b)).",
            "A value in [0, 1], or [a, b).",
            "Such as `[Order]` or ``[`Order`](x)``.",
            "row[Order][1]",
            "An [optional] note, a [WIP] one.",
            "a \\[Order] and an open [Order",
            "[0, 1][2, 3]",
            "![Picture](https://example.org/p.png)",
            "größe [ä, ö]",
            "",
        ] {
            assert_eq!(reduce_links(text), text);
        }
    }

    #[test]
    fn removes_definitions_and_reduces_their_labels() {
        let text = "See [the list] and [other].\n\n[The list]: crate::List\n[web]: https://example.org \"A title\"";
        assert_eq!(reduce_links(text), "See the list and [other].");
        assert!(!is_link_definition("[note]: this is prose"));
        assert!(!is_link_definition("[^1]: footnote"));
    }
}
