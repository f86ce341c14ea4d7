//! The recursion depth that the parser would need for a text.

use super::lexer::{Lexer, SourceToken};

/// The deepest nesting of brackets. The parser recurses several calls for each.
const DEEPEST: usize = 200;

/// The largest number of tokens in one chain, including enclosing brackets: `&&&x`, `|| || x`, `1 + 1 + 1` and
/// `A<A<A>>` are nested as deeply as they are long.
const LONGEST: usize = 4_000;

/// The place where a text is nested too deeply to be parsed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NestingError {
    /// The offset in bytes.
    pub(crate) at: usize,
}

/// Tracks the depth of the parser's recursion.
#[derive(Default)]
pub(super) struct NestingDepth {
    around: Vec<BracketGroup>,
    group: BracketGroup,
}

/// The state between two brackets.
#[derive(Default)]
struct BracketGroup {
    /// The number of tokens in the chain before the group.
    base: usize,
    /// The same plus the tokens since the last comma, semicolon or block.
    tokens: usize,
    /// The number of open `<`. A comma between them separates nothing.
    angles: usize,
    /// Characters that may open a chain but most often do not: comparisons, and the bars around a closure's parameters.
    doubtful: usize,
    /// `true` if the next `<` is the second of `<<`.
    shifts: bool,
}

impl NestingDepth {
    /// Returns the number of open brackets.
    pub(super) fn depth(&self) -> usize {
        self.around.len()
    }

    /// Returns `true` if no `<` is open.
    pub(super) fn is_outside_of_angles(&self) -> bool {
        self.group.angles == 0
    }

    /// Processes the token that the lexer returned last.
    pub(super) fn step(&mut self, token: SourceToken<'_>, lexer: &Lexer<'_>) -> Result<(), NestingError> {
        let group = &mut self.group;
        group.tokens += 1;
        match token {
            SourceToken::Open(_) => {
                let inner = BracketGroup { base: group.tokens, tokens: group.tokens, ..BracketGroup::default() };
                self.around.push(std::mem::replace(group, inner));
            }
            SourceToken::Close(bracket) => self.close(bracket, lexer),
            SourceToken::Sign(b';') => group.end(),
            SourceToken::Sign(b',') if group.angles == 0 => group.tokens = group.base + group.doubtful,
            SourceToken::Sign(b'<') => group.open_angle(lexer),
            SourceToken::Sign(b'>') if !matches!(lexer.before(), Some(b'-' | b'=')) => {
                group.angles = group.angles.saturating_sub(1);
            }
            SourceToken::Sign(b'|') => group.doubtful += 1,
            _ => {}
        }
        if self.around.len() > DEEPEST || self.group.tokens > LONGEST {
            return Err(NestingError { at: lexer.start });
        }
        Ok(())
    }

    /// Leaves a group at its closing bracket.
    pub(super) fn close(&mut self, bracket: u8, lexer: &Lexer<'_>) {
        self.group = self.around.pop().unwrap_or_default();
        // A block ends the chain, unless it is part of a longer expression.
        let goes_on = match lexer.peek() {
            Some(SourceToken::Word(word)) => matches!(word, b"else" | b"as"),
            Some(SourceToken::Sign(sign)) => !matches!(sign, b'#' | b';' | b','),
            _ => false,
        };
        if bracket == b'}' && !goes_on && self.group.angles == 0 {
            self.group.end();
        }
    }
}

impl BracketGroup {
    fn end(&mut self) {
        *self = Self { base: self.base, tokens: self.base, ..Self::default() };
    }

    /// Guesses from the surrounding whitespace whether a `<` compares, shifts or opens generic arguments.
    fn open_angle(&mut self, lexer: &Lexer<'_>) {
        let is_space = |byte: Option<u8>| byte.is_none_or(|byte| byte.is_ascii_whitespace());
        let is_number = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
        if std::mem::take(&mut self.shifts) {
            return;
        }
        let (before, after) = (lexer.before(), lexer.after(0));
        match after {
            Some(b'<') => {
                let behind = lexer.after(1);
                self.shifts = is_space(before) || is_number(before) || is_space(behind) || is_number(behind);
                if self.shifts {
                    self.doubtful += 1;
                } else {
                    self.angles += 1;
                }
            }
            Some(b'=' | b'-') => self.doubtful += 1,
            _ if is_space(before) && is_space(after) => self.doubtful += 1,
            _ => self.angles += 1,
        }
    }
}

/// Returns an error if a text is nested too deeply to be parsed.
pub(crate) fn check_nesting(text: &str) -> Result<(), NestingError> {
    let mut lexer = Lexer::new(text);
    let mut nesting = NestingDepth::default();
    while let Some(token) = lexer.next() {
        nesting.step(token, &lexer)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_ordinary_code() {
        for part in
            ["1 << 3, ", "1<<3, ", "A = 1 << 3,\n", "a < b, ", "a <= b, ", "x => {} ", "fn a(b: C<D>) {} ", "A(B<C>), "]
        {
            assert_eq!(check_nesting(&format!("x = [{}];", part.repeat(1_000))), Ok(()), "{part}");
        }
        assert_eq!(check_nesting(&"fn a(b: C<D>, e: F) -> G<H> {} struct I { j: K }\n".repeat(10_000)), Ok(()));
    }

    #[test]
    fn rejects_long_chains() {
        for part in [
            "(",
            "[",
            "{",
            "&",
            "& ",
            "&'a ",
            "-",
            "!",
            "*const ",
            "fn() -> ",
            "1+",
            "|| ",
            "|a, b| ",
            "?",
            "return ",
            ".f()",
            "a::",
            "A<",
            "A<u8, ",
            "A < u8, ",
            "if a {} else ",
            "break 'a ",
            "a = ",
            "a @ ",
            "impl Fn() -> ",
            "as u8 ",
            "{} + ",
        ] {
            assert!(check_nesting(&part.repeat(1_000_000)).is_err(), "{part}");
        }
    }
}
