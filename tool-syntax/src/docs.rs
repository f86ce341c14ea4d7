//! Descriptions from doc comments.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// What a doc comment says: its first paragraph, and the lines of its `# Arguments` section.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Docs {
    pub(crate) description: String,
    arguments: Vec<(String, String)>,
}

impl Docs {
    /// Reads all doc lines of an item, whatever other attributes stand between them.
    pub(crate) fn read(attributes: &[Attribute]) -> Self {
        let lines: Vec<String> = attributes.iter().filter_map(doc_text).flat_map(|text| clean_lines(&text)).collect();
        Self { description: first_paragraph(&lines), arguments: argument_lines(&lines) }
    }

    /// What the `# Arguments` section says of a parameter.
    pub(crate) fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.iter().find(|(argument, _)| argument == name).map(|(_, text)| text.as_str())
    }
}

fn doc_text(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    match &pair.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if pair.path.is_ident("doc") => Some(text.value()),
        _ => None,
    }
}

/// The lines of one doc attribute; a block comment has several, with leading stars.
fn clean_lines(text: &str) -> Vec<String> {
    if !text.contains('\n') {
        return vec![text.strip_prefix(' ').unwrap_or(text).trim_end().to_owned()];
    }
    let starred = text.lines().skip(1).all(|line| line.trim().is_empty() || line.trim_start().starts_with('*'));
    let strip = |line: &str| {
        let line = line.trim();
        let line = if starred { line.strip_prefix('*').unwrap_or(line) } else { line };
        line.trim().to_owned()
    };
    text.lines().map(strip).collect()
}

fn first_paragraph(lines: &[String]) -> String {
    let paragraph = lines.iter().map(|line| line.trim()).skip_while(|line| line.is_empty());
    let paragraph: Vec<&str> = paragraph.take_while(|line| !line.is_empty() && heading(line).is_none()).collect();
    paragraph.join(" ")
}

fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start().trim_start_matches('#');
    (title.len() < line.trim_start().len() && title.starts_with(' ')).then(|| title.trim())
}

fn argument_lines(lines: &[String]) -> Vec<(String, String)> {
    let is_section = |line: &&String| matches!(heading(line), Some("Arguments" | "Args" | "Parameters"));
    let section = lines.iter().skip_while(|line| !is_section(line)).skip(1).take_while(|line| heading(line).is_none());
    let mut arguments: Vec<(String, String)> = Vec::new();
    let mut open = false;
    for line in section {
        if let Some(argument) = argument_line(line.trim()) {
            arguments.push(argument);
            open = true;
        } else if line.trim().is_empty() {
            open = false;
        } else if let (true, Some((_, text))) = (open, arguments.last_mut()) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(line.trim());
        }
    }
    arguments
}

/// One line such as "* `host` - Host name": a bullet, the name, a dash or a colon, the text.
fn argument_line(line: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix(['*', '-', '+'])?.trim_start();
    let (name, rest) = match rest.strip_prefix('`') {
        Some(quoted) => quoted.split_once('`')?,
        None => {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
            rest.split_at(end)
        }
    };
    let text = rest.trim_start();
    let text = text.strip_prefix([':', '-', '–', '—']).map_or(text, |text| text.trim_start_matches(['-', ' ']));
    (!name.is_empty()).then(|| (name.to_owned(), text.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use syn::{ItemFn, parse_quote};

    use super::*;

    #[test]
    fn attributes_and_blank_lines_do_not_lose_the_description() {
        let item: ItemFn = parse_quote! {
            ///
            /// The newest points
            #[inline]
            /// of one host.
            ///
            /// More.
            fn newest() {}
        };
        assert_eq!(Docs::read(&item.attrs).description, "The newest points of one host.");
    }

    #[test]
    fn a_block_comment_is_read_like_lines() {
        let item: ItemFn = syn::parse_str("/** First line\n * second line.\n *\n * Rest.\n */\nfn f() {}").unwrap();
        assert_eq!(Docs::read(&item.attrs).description, "First line second line.");
    }

    #[test]
    fn the_arguments_section_is_read_in_its_usual_forms() {
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
            fn f() {}
        };
        let docs = Docs::read(&item.attrs);
        assert_eq!(docs.argument("host"), Some("Host name, such as `web-1`."));
        assert_eq!(docs.argument("limit"), Some("How many."));
        assert_eq!(docs.argument("unit"), Some("The unit."));
        assert_eq!(docs.argument("none"), None);
    }

    #[test]
    fn a_heading_is_no_description() {
        let item: ItemFn = parse_quote! {
            /// # Arguments
            /// * `a` - An a.
            fn f() {}
        };
        assert_eq!(Docs::read(&item.attrs).description, "");
    }
}
