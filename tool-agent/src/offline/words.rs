//! Tokenizer for the user's text.

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word<'a> {
    Plain(&'a str),
    /// Quoted text.
    Quoted(&'a str),
    /// `name=value`
    Named(&'a str, &'a str),
}

impl<'a> Word<'a> {
    /// Returns the text to search tools by. Values do not describe a task.
    pub(super) fn searched(&self) -> &'a str {
        match self {
            Self::Plain(word) => word,
            Self::Quoted(_) => "",
            Self::Named(name, _) => name,
        }
    }

    pub(super) fn is_plain(&self, text: &str) -> bool {
        matches!(self, Self::Plain(word) if *word == text)
    }
}

/// Splits a text into words.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (word, after) = first(rest);
        words.push(word);
        rest = after.trim_start();
    }
    words
}

/// Splits the first word from a non-empty text.
fn first(text: &str) -> (Word<'_>, &str) {
    if let Some((quoted, rest)) = quoted(text) {
        return (Word::Quoted(quoted), rest);
    }
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if let Some((name, value)) = text.split_once('=')
        && !name.is_empty()
        && name.chars().all(is_name)
        && !value.starts_with(char::is_whitespace)
        && !value.is_empty()
    {
        let (value, rest) = quoted(value).or_else(|| bracketed(value)).unwrap_or_else(|| plain(value));
        return (Word::Named(name, value), rest);
    }
    let (word, rest) = plain(text);
    let trimmed = word.trim_matches(|c: char| ",;:!?()".contains(c)).trim_end_matches('.');
    (Word::Plain(if trimmed.is_empty() { word } else { trimmed }), rest)
}

fn plain(text: &str) -> (&str, &str) {
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    let open = text.chars().next()?;
    let close = match open {
        '"' | '\'' | '`' => open,
        '“' | '„' => '”',
        '«' => '»',
        _ => return None,
    };
    text[open.len_utf8()..].split_once(close)
}

/// Splits a JSON array or object from the start of a text.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    if !text.starts_with(['[', '{']) {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    values.next()?.ok()?;
    Some(text.split_at(values.byte_offset()))
}

#[cfg(test)]
mod tests {
    use super::Word::{Named, Plain, Quoted};
    use super::*;

    #[test]
    fn splits_a_text_into_words_quotes_and_named_values() {
        let text = r#"Don't read `a b.txt`, limit=5 to="Ada L." tags=["x y", "z"] a = b x=. "open"#;
        let expected = [
            Plain("Don't"),
            Plain("read"),
            Quoted("a b.txt"),
            Plain(","),
            Named("limit", "5"),
            Named("to", "Ada L."),
            Named("tags", r#"["x y", "z"]"#),
            Plain("a"),
            Plain("="),
            Plain("b"),
            Named("x", "."),
            Plain("\"open"),
        ];
        assert_eq!(words(text), expected);
        assert!(words(" \n").is_empty());
    }
}
