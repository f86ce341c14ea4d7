//! A lexer for Rust that only finds where items begin and end.

use super::search::is_word;

/// A token. The lexer skips literals, lifetimes and comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceToken<'a> {
    /// A name, a keyword without `r#`, or a number.
    Word(&'a [u8]),
    /// `(`, `[`, `{`
    Open(u8),
    /// `)`, `]`, `}`
    Close(u8),
    /// Any other character.
    Sign(u8),
}

/// Iterates over the tokens of a text.
#[derive(Clone)]
pub(super) struct Lexer<'a> {
    text: &'a [u8],
    /// The offset behind the last token.
    pub(super) at: usize,
    /// The offset of the last token.
    pub(super) start: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text: text.as_bytes(), at: 0, start: 0 }
    }

    pub(super) fn next(&mut self) -> Option<SourceToken<'a>> {
        loop {
            let byte = *self.text.get(self.at)?;
            self.start = self.at;
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'/' if self.skip_comment() => {}
                b'"' => self.at = string_end(self.text, self.at),
                b'\'' => self.at = quote_end(self.text, self.at),
                b'(' | b'[' | b'{' => {
                    self.at += 1;
                    return Some(SourceToken::Open(byte));
                }
                b')' | b']' | b'}' => {
                    self.at += 1;
                    return Some(SourceToken::Close(byte));
                }
                byte if is_word(byte) => return Some(SourceToken::Word(self.word())),
                _ => {
                    self.at += 1;
                    return Some(SourceToken::Sign(byte));
                }
            }
        }
    }

    /// Returns the next token without consuming it.
    pub(super) fn peek(&self) -> Option<SourceToken<'a>> {
        self.clone().next()
    }

    /// Returns the byte before the last token.
    pub(super) fn before(&self) -> Option<u8> {
        self.text.get(self.start.checked_sub(1)?).copied()
    }

    /// Returns a byte behind the last token.
    pub(super) fn after(&self, distance: usize) -> Option<u8> {
        self.text.get(self.at + distance).copied()
    }

    /// Skips the rest of a group whose opening bracket was consumed. Returns `false` if the group does not end.
    pub(super) fn skip_group(&mut self) -> bool {
        let mut depth = 1_usize;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'/' if self.skip_comment() => continue,
                b'"' => {
                    self.at = string_end(self.text, self.at);
                    continue;
                }
                b'\'' => {
                    self.at = quote_end(self.text, self.at);
                    continue;
                }
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return true;
            }
        }
        false
    }

    /// Returns the end of the inner attributes and inner doc comments that follow, or the current offset.
    pub(super) fn inner_attributes_end(&self) -> usize {
        let mut ahead = self.clone();
        let mut end = self.at;
        while let Some(rest) = self.text.get(ahead.at..) {
            let is_inner = rest.starts_with(b"//!") || rest.starts_with(b"/*!");
            if rest.first().is_some_and(u8::is_ascii_whitespace) {
                ahead.at += 1;
                continue;
            }
            if rest.starts_with(b"#") {
                let opens = ahead.next().is_some()
                    && ahead.next() == Some(SourceToken::Sign(b'!'))
                    && ahead.next() == Some(SourceToken::Open(b'['));
                if !opens || !ahead.skip_group() {
                    break;
                }
                end = ahead.at;
            } else if !ahead.skip_comment() {
                break;
            } else if is_inner {
                end = ahead.at;
            }
        }
        end
    }

    fn word(&mut self) -> &'a [u8] {
        let begin = self.at;
        while self.text.get(self.at).is_some_and(|&byte| is_word(byte)) {
            self.at += 1;
        }
        let raw = &self.text[begin..self.at] == b"r"
            && self.text.get(self.at) == Some(&b'#')
            && self.text.get(self.at + 1).is_some_and(|&byte| is_word(byte));
        if raw {
            self.at += 1;
            return self.word();
        }
        &self.text[begin..self.at]
    }

    /// Skips a comment, if there is one.
    fn skip_comment(&mut self) -> bool {
        match self.text.get(self.at + 1) {
            Some(b'/') => {
                self.at = memchr::memchr(b'\n', &self.text[self.at..]).map_or(self.text.len(), |end| self.at + end);
                true
            }
            Some(b'*') => {
                self.at = block_comment_end(self.text, self.at);
                true
            }
            _ => false,
        }
    }
}

/// Returns the end of a block comment. Block comments nest.
fn block_comment_end(text: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(next) = memchr::memchr2(b'/', b'*', &text[at..]) {
        at += next;
        match (text[at], text.get(at + 1)) {
            (b'/', Some(b'*')) => {
                depth += 1;
                at += 2;
            }
            (b'*', Some(b'/')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the end of the string with this opening quote. The bytes before the quote show whether it is a raw string.
fn string_end(text: &[u8], quote: usize) -> usize {
    let hashes = text[..quote].iter().rev().take_while(|&&byte| byte == b'#').count();
    if is_raw_prefix(&text[..quote - hashes]) {
        let mut at = quote + 1;
        while let Some(end) = memchr::memchr(b'"', &text[at..]) {
            at += end + 1;
            let closing = text[at..].iter().take(hashes).take_while(|&&byte| byte == b'#').count();
            if closing == hashes {
                return at + hashes;
            }
        }
        return text.len();
    }
    let mut at = quote + 1;
    while let Some(next) = memchr::memchr2(b'"', b'\\', &text[at..]) {
        at += next;
        if text[at] == b'"' {
            return at + 1;
        }
        at += 2;
        if at > text.len() {
            break;
        }
    }
    text.len()
}

/// Returns `true` if a text ends in the word `r`, `br` or `cr`.
fn is_raw_prefix(before: &[u8]) -> bool {
    let Some(before) = before.strip_suffix(b"r") else { return false };
    let before = before.strip_suffix(b"b").or_else(|| before.strip_suffix(b"c")).unwrap_or(before);
    !before.last().is_some_and(|&byte| is_word(byte))
}

/// Returns the end of the character literal, or of the quote of a lifetime.
fn quote_end(text: &[u8], quote: usize) -> usize {
    match text.get(quote + 1) {
        Some(b'\\') => {
            let rest = quote + 3;
            let end = text.get(rest..).and_then(|rest| memchr::memchr(b'\'', rest));
            end.map_or(text.len(), |end| rest + end + 1)
        }
        Some(&first) => {
            let width = match first {
                0..0x80 => 1,
                0x80..0xe0 => 2,
                0xe0..0xf0 => 3,
                _ => 4,
            };
            if text.get(quote + 1 + width) == Some(&b'\'') { quote + width + 2 } else { quote + 1 }
        }
        None => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut lexer = Lexer::new(text);
        let mut words = Vec::new();
        while let Some(token) = lexer.next() {
            if let SourceToken::Word(word) = token {
                words.push(String::from_utf8_lossy(word).into_owned());
            }
        }
        words
    }

    #[test]
    fn skips_literals_and_comments() {
        let text = r####"a /* x /* y */ z */ b // c
            "d \" e" f r"g\" h r#"i " j"# k br##"l "# m"## n 'o' p '\'' q '\u{7f}' 'é' s b'"' t r#fn u"####;
        assert_eq!(words(text), ["a", "b", "f", "r", "h", "r", "k", "br", "n", "p", "q", "s", "b", "t", "fn", "u"]);
    }

    #[test]
    fn a_lifetime_is_not_a_literal() {
        assert_eq!(words("&'a str 'b: x"), ["a", "str", "b", "x"]);
    }

    #[test]
    fn skips_a_whole_group() {
        let mut lexer = Lexer::new("{ a { \"}\" '}' } /* } */ } b");
        assert_eq!(lexer.next(), Some(SourceToken::Open(b'{')));
        assert!(lexer.skip_group());
        assert_eq!(lexer.next(), Some(SourceToken::Word(b"b")));
    }

    #[test]
    fn an_unclosed_token_ends_with_the_text() {
        for text in ["\"a", "'", "'\\", "/* a", "r#\"a\"", "{ a", "\"a\\", "b'\\'", "'é"] {
            let mut lexer = Lexer::new(text);
            while lexer.next().is_some() {}
            assert_eq!(lexer.at, text.len(), "{text}");
        }
    }
}
