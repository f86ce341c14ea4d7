//! A text with the parts left out that say nothing of tools and types.
//!
//! What is left out becomes blank, so that lines and columns stay what they were.

use super::lexer::{Lexer, Token};

/// How deep a text may be nested: the parser goes down one call for each level.
const DEEPEST: usize = 200;

/// Functions without parameters up to this length keep their bodies: serde's `default = ".."` names such.
const SHORT_BODY: usize = 2_000;

/// Where a text is nested too deeply to be parsed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooDeep {
    /// The offset of the place, in bytes.
    pub(crate) at: usize,
}

/// The text without the bodies of functions and of `macro_rules!`, but for those that hold one of the `annotations`.
pub(crate) fn without_bodies(text: &str, annotations: &[usize]) -> Result<String, TooDeep> {
    let mut lexer = Lexer::new(text);
    let mut blank = Blank::new(text);
    let mut nesting = Nesting::default();
    let holds_one = |from: usize, to: usize| {
        let next = annotations.partition_point(|&at| at < from);
        annotations.get(next).is_some_and(|&at| at < to)
    };
    while let Some(token) = lexer.next() {
        nesting.step(token, lexer.start)?;
        let body = match token {
            Token::Word(b"fn") if matches!(lexer.peek(), Some(Token::Word(_))) => {
                function_body(&mut lexer, &mut nesting)?
            }
            Token::Word(b"macro_rules") => macro_body(&mut lexer),
            _ => None,
        };
        if let Some(body) = body {
            let start = lexer.at;
            let mut behind = lexer.clone();
            if !behind.skip_group() {
                continue;
            }
            let end = behind.at - 1;
            let keep = holds_one(start, end) || (body == Body::OfNoParameters && end - start <= SHORT_BODY);
            if !keep {
                blank.leave_out(start, end);
                lexer = behind;
                nesting.close();
            }
        }
    }
    Ok(blank.finish())
}

/// Whether all of a text can be parsed without going too deep.
pub(crate) fn check_nesting(text: &str) -> Result<(), TooDeep> {
    let mut lexer = Lexer::new(text);
    let mut nesting = Nesting::default();
    while let Some(token) = lexer.next() {
        nesting.step(token, lexer.start)?;
    }
    Ok(())
}

/// The text with nothing but its modules and its inner attributes.
pub(crate) fn modules_only(text: &str) -> String {
    let mut lexer = Lexer::new(text);
    let mut blank = Blank::new(text);
    // Where the item begins that is being read, with its attributes.
    let mut item = 0;
    while let Some(token) = lexer.next() {
        match token {
            Token::Word(b"mod") if matches!(lexer.peek(), Some(Token::Word(_))) => {
                blank.leave_out_to(item);
                lexer.next();
                lexer.next();
                item = lexer.at;
                blank.keep_to(item);
            }
            Token::Sign(b'#') if lexer.peek() == Some(Token::Sign(b'!')) => {
                let start = lexer.start;
                lexer.next();
                if matches!(lexer.next(), Some(Token::Open(b'['))) {
                    lexer.skip_group();
                    blank.leave_out_to(start);
                    item = lexer.at;
                    blank.keep_to(item);
                }
            }
            Token::Open(bracket) => {
                lexer.skip_group();
                if bracket == b'{' {
                    item = lexer.at;
                }
            }
            // Of an inline module: other groups are passed over as a whole.
            Token::Close(_) => {
                blank.leave_out_to(lexer.start);
                item = lexer.at;
                blank.keep_to(item);
            }
            Token::Sign(b';') => item = lexer.at,
            _ => {}
        }
    }
    blank.leave_out_to(text.len());
    blank.finish()
}

/// What is known of a body before it is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    OfNoParameters,
    Other,
}

/// Goes to a function's body, behind its brace. Nothing if it has none.
fn function_body(lexer: &mut Lexer<'_>, nesting: &mut Nesting) -> Result<Option<Body>, TooDeep> {
    let mut depth = 0_usize;
    let mut parameters = None;
    let mut bounded = false;
    let mut before = None;
    while let Some(token) = lexer.next() {
        nesting.step(token, lexer.start)?;
        match token {
            // `Foo<{ N }>` is a type; behind `where` a comma may stand before the body.
            Token::Open(b'{') if depth == 0 => {
                let constant = match before {
                    Some(Token::Sign(b'<')) => true,
                    Some(Token::Sign(b',' | b'=')) => !bounded,
                    _ => false,
                };
                if !constant {
                    let empty = parameters == Some(true);
                    return Ok(Some(if empty { Body::OfNoParameters } else { Body::Other }));
                }
                depth += 1;
            }
            Token::Open(b'(') if depth == 0 && parameters.is_none() => {
                parameters = Some(lexer.peek() == Some(Token::Close(b')')));
                depth += 1;
            }
            Token::Open(_) => depth += 1,
            Token::Close(_) if depth == 0 => return Ok(None),
            Token::Close(_) => depth -= 1,
            Token::Sign(b';') if depth == 0 => return Ok(None),
            Token::Word(b"where") if depth == 0 => bounded = true,
            _ => {}
        }
        before = Some(token);
    }
    Ok(None)
}

/// Goes to the rules of `macro_rules! name`, behind their bracket.
fn macro_body(lexer: &mut Lexer<'_>) -> Option<Body> {
    let mut ahead = lexer.clone();
    let is_macro = ahead.next() == Some(Token::Sign(b'!'))
        && matches!(ahead.next(), Some(Token::Word(_)))
        && matches!(ahead.next(), Some(Token::Open(_)));
    is_macro.then(|| {
        *lexer = ahead;
        Body::Other
    })
}

/// Counts what the parser would recurse into.
#[derive(Default)]
struct Nesting {
    groups: usize,
    angles: usize,
    prefixes: usize,
    arrow: bool,
}

impl Nesting {
    fn step(&mut self, token: Token<'_>, at: usize) -> Result<(), TooDeep> {
        let arrow = std::mem::take(&mut self.arrow);
        match token {
            Token::Open(_) => self.groups += 1,
            Token::Close(_) => self.close(),
            Token::Sign(b'<') => self.angles += 1,
            Token::Sign(b'>') if !arrow => self.angles = self.angles.saturating_sub(1),
            _ => {}
        }
        match token {
            Token::Sign(b'&' | b'*' | b'!' | b'-') => self.prefixes += 1,
            Token::Word(b"mut" | b"const" | b"dyn") => {}
            _ => self.prefixes = 0,
        }
        self.arrow = matches!(token, Token::Sign(b'-' | b'='));
        if matches!(token, Token::Sign(b';') | Token::Open(b'{') | Token::Close(b'}')) {
            self.angles = 0;
        }
        if self.groups > DEEPEST || self.angles > DEEPEST || self.prefixes > DEEPEST {
            return Err(TooDeep { at });
        }
        Ok(())
    }

    fn close(&mut self) {
        self.groups = self.groups.saturating_sub(1);
    }
}

/// Copies a text with parts of it blank.
struct Blank<'a> {
    text: &'a str,
    out: String,
    done: usize,
}

impl<'a> Blank<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, out: String::with_capacity(text.len().min(1 << 20)), done: 0 }
    }

    fn keep_to(&mut self, end: usize) {
        self.out.push_str(&self.text[self.done..end]);
        self.done = end;
    }

    fn leave_out_to(&mut self, end: usize) {
        let part = &self.text[self.done..end];
        let mut line = 0;
        for newline in memchr::memchr_iter(b'\n', part.as_bytes()) {
            self.out.push('\n');
            line = newline + 1;
        }
        self.out.extend(part[line..].chars().map(|_| ' '));
        self.done = end;
    }

    fn leave_out(&mut self, start: usize, end: usize) {
        self.keep_to(start);
        self.leave_out_to(end);
    }

    fn finish(mut self) -> String {
        self.keep_to(self.text.len());
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squeezed(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn bodies_are_left_out_and_places_stay() {
        let text = "fn a(x: u8) -> u8 {\n  let y = \"}\";\n} struct B { c: fn(u8) -> u8 }\nimpl B { fn d(&self) { 'x: loop {} } }";
        let outline = without_bodies(text, &[]).unwrap();
        assert_eq!(squeezed(&outline), "fn a(x: u8) -> u8 { } struct B { c: fn(u8) -> u8 } impl B { fn d(&self) { } }");
        for (line, kept) in text.lines().zip(outline.lines()) {
            for word in ["struct", "impl", "fn d"] {
                assert_eq!(line.find(word), kept.find(word), "{word}");
            }
        }
    }

    #[test]
    fn a_body_is_told_from_a_constant() {
        let text = "fn a(x: u8) -> F<{ N }> { x } fn b<T>(t: T) where T: C, { x } fn c(x: [u8; { 1 }]); fn d<const N: usize = { 1 }>(x: u8) { x }";
        let outline = without_bodies(text, &[]).unwrap();
        assert_eq!(
            squeezed(&outline),
            "fn a(x: u8) -> F<{ N }> { } fn b<T>(t: T) where T: C, { } fn c(x: [u8; { 1 }]); fn d<const N: usize = { 1 }>(x: u8) { }"
        );
    }

    #[test]
    fn what_may_matter_is_kept() {
        let text = "fn limit() -> u32 { 10 } fn main(x: u8) { #[tool] fn inner() {} } macro_rules! m { () => { x } }";
        let annotation = text.find("tool").unwrap();
        let outline = without_bodies(text, &[annotation]).unwrap();
        assert_eq!(
            squeezed(&outline),
            "fn limit() -> u32 { 10 } fn main(x: u8) { #[tool] fn inner() {} } macro_rules! m { }"
        );
    }

    #[test]
    fn modules_are_all_that_remains() {
        let text = "#![cfg(a)]\n//! x\nuse b::{c};\n#[path = \"d.rs\"]\npub mod d;\nfn e() { mod no {} }\nmod f { struct G { h: i8 } mod i; }\nconst J: u8 = { 1 } + 2;\n/// k\nmod k;\n";
        assert_eq!(
            squeezed(&modules_only(text)),
            "#![cfg(a)] #[path = \"d.rs\"] pub mod d; mod f { mod i; } /// k mod k;"
        );
        let line = |text: &str, word| text.lines().position(|line| line.contains(word));
        assert_eq!(line(text, "mod k"), line(&modules_only(text), "mod k"));
    }

    #[test]
    fn deep_nesting_is_refused_unless_it_is_left_out() {
        let deep = |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
        assert!(without_bodies(&format!("fn a(x: u8) {{ {} }}", deep("(", ")")), &[]).is_ok());
        for text in [deep("(", ")"), deep("[", "]"), deep("Option<", ">"), deep("&", ""), deep("{", "")] {
            assert!(without_bodies(&format!("const A: B = {text};"), &[]).is_err(), "{}", &text[..20]);
            assert!(without_bodies(&format!("fn a(x: {text}) {{}}"), &[]).is_err(), "{}", &text[..20]);
        }
    }
}
