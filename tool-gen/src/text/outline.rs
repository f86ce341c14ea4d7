//! Outlines of a text, with the parts blanked that do not matter for tools and types.
//!
//! Blanks keep the lines and columns of the rest.

use super::lexer::{Lexer, SourceToken};
use super::nesting::{NestingDepth, NestingError, check_nesting};
use super::search::may_declare_modules;

/// Functions without parameters keep their bodies up to this length, because serde's `default = ".."` names such
/// functions.
const SHORT_BODY: usize = 2_000;

/// Constants keep their values up to this length. Longer ones are not defaults.
const SHORT_VALUE: usize = 2_000;

/// The deepest nesting of inline modules.
const DEEPEST_MODULE: usize = 200;

/// The kind of a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BodyKind {
    OfNoParameters,
    Other,
}

/// The module declarations of a text.
#[derive(Debug)]
pub(crate) struct ModuleOutline {
    /// The text with everything else blanked.
    pub(crate) text: String,
    /// The macro calls that contain `mod name;`, by name, with the offset.
    pub(crate) in_macros: Vec<(String, usize)>,
}

/// Copies a text and blanks parts of it.
pub(super) struct BlankedText<'a> {
    text: &'a str,
    out: String,
    done: usize,
}

impl<'a> BlankedText<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, out: String::with_capacity(text.len().min(1 << 20)), done: 0 }
    }

    pub(super) fn keep_to(&mut self, end: usize) {
        self.out.push_str(&self.text[self.done..end]);
        self.done = end;
    }

    pub(super) fn blank_to(&mut self, end: usize) {
        let part = &self.text[self.done..end];
        let mut line = 0;
        for newline in memchr::memchr_iter(b'\n', part.as_bytes()) {
            self.out.push('\n');
            line = newline + 1;
        }
        self.out.extend(part[line..].chars().map(|_| ' '));
        self.done = end;
    }

    pub(super) fn blank_out(&mut self, start: usize, end: usize) {
        self.keep_to(start);
        self.blank_to(end);
    }

    /// Replaces a part by a shorter text and blanks.
    pub(super) fn replace(&mut self, start: usize, end: usize, by: &str) {
        self.keep_to(start);
        self.out.push_str(by);
        self.blank_to(end);
    }

    pub(super) fn finish(mut self) -> String {
        self.keep_to(self.text.len());
        self.out
    }
}

/// Blanks the bodies of functions and of `macro_rules!` that contain none of the `annotations`, and the values of long
/// constants. Functions with a deserializer keep their bodies.
pub(crate) fn without_bodies(text: &str, annotations: &[usize]) -> Result<String, NestingError> {
    let mut lexer = Lexer::new(text);
    let mut blank = BlankedText::new(text);
    let mut nesting = NestingDepth::default();
    let holds_one = |from: usize, to: usize| {
        let next = annotations.partition_point(|&at| at < from);
        annotations.get(next).is_some_and(|&at| at < to)
    };
    // `true` if the current function has a deserializer: its body shows what a type is read from.
    let mut is_deserializing = false;
    // The bracket depth of the constant that is being read, if any.
    let mut constant = None;
    let mut before = None;
    while let Some(token) = lexer.next() {
        nesting.step(token, &lexer)?;
        let body = match token {
            SourceToken::Word(b"fn") if matches!(lexer.peek(), Some(SourceToken::Word(_))) => {
                let start = lexer.at;
                let body = function_body(&mut lexer, &mut nesting)?;
                is_deserializing = text[start..lexer.at].contains("Deserializer");
                body
            }
            SourceToken::Word(b"macro_rules") => {
                is_deserializing = false;
                macro_body(&mut lexer, &mut nesting)?
            }
            SourceToken::Word(b"const" | b"static") if is_constant(&lexer, before) => {
                constant = Some(nesting.depth());
                None
            }
            SourceToken::Sign(b'=') if constant == Some(nesting.depth()) && nesting.is_outside_of_angles() => {
                constant = None;
                let (start, mut behind) = (lexer.at, lexer.clone());
                if let Some(end) = end_of_value(&mut behind)
                    && end - start > SHORT_VALUE
                    && !holds_one(start, end)
                {
                    blank.replace(start, end, "_");
                    lexer = behind;
                }
                None
            }
            _ => None,
        };
        before = Some(token);
        if let Some(body) = body {
            let start = lexer.at;
            let mut behind = lexer.clone();
            if !behind.skip_group() {
                continue;
            }
            let end = behind.at - 1;
            let keep = holds_one(start, end)
                || is_deserializing
                || (body == BodyKind::OfNoParameters && end - start <= SHORT_BODY);
            if !keep {
                blank.blank_out(lexer.inner_attributes_end().min(end), end);
                lexer = behind;
                nesting.close(b'}', &lexer);
                before = Some(SourceToken::Close(b'}'));
            }
        }
    }
    Ok(blank.finish())
}

/// Returns `true` if `const` or `static` begins an item. It may also be part of a type or of generic parameters.
fn is_constant(lexer: &Lexer<'_>, before: Option<SourceToken<'_>>) -> bool {
    let mut ahead = lexer.clone();
    let named = match ahead.next() {
        Some(SourceToken::Word(b"mut" | b"ref")) => ahead.next(),
        first => first,
    };
    matches!(named, Some(SourceToken::Word(_)))
        && ahead.next() == Some(SourceToken::Sign(b':'))
        && !matches!(before, Some(SourceToken::Sign(b'<' | b',' | b'*')))
}

/// Moves to the semicolon behind a value and returns its offset.
fn end_of_value(lexer: &mut Lexer<'_>) -> Option<usize> {
    loop {
        match lexer.next()? {
            SourceToken::Sign(b';') => {
                lexer.at = lexer.start;
                return Some(lexer.start);
            }
            SourceToken::Open(_) if !lexer.skip_group() => return None,
            SourceToken::Close(_) => return None,
            _ => {}
        }
    }
}

/// Moves behind the opening brace of a function's body. Returns `None` if the function has no body.
fn function_body(lexer: &mut Lexer<'_>, nesting: &mut NestingDepth) -> Result<Option<BodyKind>, NestingError> {
    let mut depth = 0_usize;
    let mut parameters = None;
    let mut bounded = false;
    let mut before = None;
    while let Some(token) = lexer.next() {
        nesting.step(token, lexer)?;
        match token {
            // `Foo<{ N }>` is a type; in a `where` clause a comma may precede the body.
            SourceToken::Open(b'{') if depth == 0 => {
                let constant = match before {
                    Some(SourceToken::Sign(b'<')) => true,
                    Some(SourceToken::Sign(b',' | b'=')) => !bounded,
                    _ => false,
                };
                if !constant {
                    let empty = parameters == Some(true);
                    return Ok(Some(if empty { BodyKind::OfNoParameters } else { BodyKind::Other }));
                }
                depth += 1;
            }
            SourceToken::Open(b'(') if depth == 0 && parameters.is_none() => {
                parameters = Some(lexer.peek() == Some(SourceToken::Close(b')')));
                depth += 1;
            }
            SourceToken::Open(_) => depth += 1,
            SourceToken::Close(_) if depth == 0 => return Ok(None),
            SourceToken::Close(_) => depth -= 1,
            SourceToken::Sign(b';') if depth == 0 => return Ok(None),
            SourceToken::Word(b"where") if depth == 0 => bounded = true,
            _ => {}
        }
        before = Some(token);
    }
    Ok(None)
}

/// Moves behind the opening bracket of `macro_rules! name`.
fn macro_body(lexer: &mut Lexer<'_>, nesting: &mut NestingDepth) -> Result<Option<BodyKind>, NestingError> {
    let mut ahead = lexer.clone();
    let is_macro = ahead.next() == Some(SourceToken::Sign(b'!'))
        && matches!(ahead.next(), Some(SourceToken::Word(_)))
        && matches!(ahead.peek(), Some(SourceToken::Open(_)));
    if !is_macro {
        return Ok(None);
    }
    *lexer = ahead;
    if let Some(token) = lexer.next() {
        nesting.step(token, lexer)?;
    }
    Ok(Some(BodyKind::Other))
}

/// Blanks everything but modules and inner attributes.
///
/// # Errors
/// Returns an error if modules, or the attributes before them, are nested too deeply.
pub(crate) fn modules_only(text: &str) -> Result<ModuleOutline, NestingError> {
    let mut lexer = Lexer::new(text);
    let mut blank = BlankedText::new(text);
    // The offset of the current item, including its attributes.
    let mut item = 0;
    let mut depth = 0_usize;
    let mut in_macros = Vec::new();
    // The last two tokens.
    let mut before = [None, None];
    let check =
        |from: usize, to: usize| check_nesting(&text[from..to]).map_err(|deep| NestingError { at: from + deep.at });
    while let Some(token) = lexer.next() {
        match token {
            SourceToken::Word(b"mod") if matches!(lexer.peek(), Some(SourceToken::Word(_))) => {
                check(item, lexer.start)?;
                blank.blank_to(item);
                lexer.next();
                if matches!(lexer.next(), Some(SourceToken::Open(_))) {
                    depth += 1;
                    if depth > DEEPEST_MODULE {
                        return Err(NestingError { at: lexer.start });
                    }
                }
                item = lexer.at;
                blank.keep_to(item);
            }
            SourceToken::Sign(b'#') if lexer.peek() == Some(SourceToken::Sign(b'!')) => {
                let start = lexer.start;
                lexer.next();
                if matches!(lexer.next(), Some(SourceToken::Open(b'['))) {
                    lexer.skip_group();
                    check(start, lexer.at)?;
                    blank.blank_to(start);
                    item = lexer.at;
                    blank.keep_to(item);
                }
            }
            SourceToken::Open(bracket) => {
                let start = lexer.at;
                lexer.skip_group();
                if let [Some(SourceToken::Word(name)), Some(SourceToken::Sign(b'!'))] = before
                    && let Some(at) = module_in(&text[start..lexer.at])
                {
                    in_macros.push((String::from_utf8_lossy(name).into_owned(), start + at));
                }
                if bracket == b'{' {
                    item = lexer.at;
                }
            }
            // Ends an inline module; other groups are skipped as a whole.
            SourceToken::Close(_) => {
                depth = depth.saturating_sub(1);
                blank.blank_to(lexer.start);
                item = lexer.at;
                blank.keep_to(item);
            }
            SourceToken::Sign(b';') => item = lexer.at,
            _ => {}
        }
        before = [before[1], Some(token)];
    }
    blank.blank_to(text.len());
    Ok(ModuleOutline { text: blank.finish(), in_macros })
}

/// Returns the offset of `mod name;` in a text.
fn module_in(text: &str) -> Option<usize> {
    if !may_declare_modules(text.as_bytes()) {
        return None;
    }
    let mut lexer = Lexer::new(text);
    while let Some(token) = lexer.next() {
        let at = lexer.start;
        let mut ahead = lexer.clone();
        if token == SourceToken::Word(b"mod")
            && matches!(ahead.next(), Some(SourceToken::Word(_)))
            && ahead.next() == Some(SourceToken::Sign(b';'))
        {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squeezed(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn blanks_bodies_and_keeps_places() {
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
    fn distinguishes_a_body_from_a_constant() {
        let text = "fn a(x: u8) -> F<{ N }> { x } fn b<T>(t: T) where T: C, { x } fn c(x: [u8; { 1 }]); fn d<const N: usize = { 1 }>(x: u8) { x }";
        let outline = without_bodies(text, &[]).unwrap();
        assert_eq!(
            squeezed(&outline),
            "fn a(x: u8) -> F<{ N }> { } fn b<T>(t: T) where T: C, { } fn c(x: [u8; { 1 }]); fn d<const N: usize = { 1 }>(x: u8) { }"
        );
    }

    #[test]
    fn keeps_inner_attributes() {
        let text =
            "fn a(x: u8) { //! One.\n /* no */ // no\n #![inline] /*! Two. */ x; /*! Three. */ } fn b(x: u8) { //!}\n}";
        let outline = without_bodies(text, &[]).unwrap();
        assert_eq!(
            outline.split_whitespace().collect::<Vec<_>>().join(" "),
            "fn a(x: u8) { //! One. /* no */ // no #![inline] /*! Two. */ } fn b(x: u8) { //!} }"
        );
        assert_eq!(outline.lines().count(), text.lines().count());
    }

    #[test]
    fn keeps_bodies_that_may_matter() {
        let text = "fn limit() -> u32 { 10 } fn main(x: u8) { #[tool] fn inner() {} } macro_rules! m { () => { x } }";
        let annotation = text.find("tool").unwrap();
        let outline = without_bodies(text, &[annotation]).unwrap();
        assert_eq!(
            squeezed(&outline),
            "fn limit() -> u32 { 10 } fn main(x: u8) { #[tool] fn inner() {} } macro_rules! m { }"
        );
    }

    #[test]
    fn blanks_long_values() {
        let long = "1 + ".repeat(1_000_000);
        let text = format!("const A: [B<{{ 1 }}>; 2] = {long}1; static mut C: D<E = F> = {long}1; const G: u8 = 1;");
        assert_eq!(
            squeezed(&without_bodies(&text, &[]).unwrap()),
            "const A: [B<{ 1 }>; 2] =_ ; static mut C: D<E = F> =_ ; const G: u8 = 1;"
        );
        let kept = "fn a<const B: usize = 3>(c: *const D, e: u8) { } const fn f() { }";
        assert_eq!(squeezed(&without_bodies(kept, &[]).unwrap()), kept);
    }

    #[test]
    fn rejects_deep_nesting_unless_it_is_blanked() {
        let deep = |open: &str, close: &str| format!("{}{}", open.repeat(1_000_000), close.repeat(1_000_000));
        assert!(without_bodies(&format!("fn a(x: u8) {{ {} }}", deep("(", ")")), &[]).is_ok());
        for text in [deep("(", ")"), deep("[", "]"), deep("Option<", ">"), deep("&", ""), deep("{", "")] {
            assert!(without_bodies(&format!("fn a(x: {text}) {{}}"), &[]).is_err(), "{}", &text[..20]);
        }
    }

    #[test]
    fn keeps_only_modules() {
        let text = "#![cfg(a)]\n//! x\nuse b::{c};\n#[path = \"d.rs\"]\npub mod d;\nfn e() { mod no {} }\nmod f { struct G { h: i8 } mod i; }\nconst J: u8 = { 1 } + 2;\n/// k\nmod k;\n";
        assert_eq!(
            squeezed(&modules_only(text).unwrap().text),
            "#![cfg(a)] #[path = \"d.rs\"] pub mod d; mod f { mod i; } /// k mod k;"
        );
        let line = |text: &str, word| text.lines().position(|line| line.contains(word));
        assert_eq!(line(text, "mod k"), line(&modules_only(text).unwrap().text, "mod k"));
    }

    #[test]
    fn rejects_deeply_nested_modules() {
        let deep = |open: &str, close: &str| format!("{}{}", open.repeat(1_000_000), close.repeat(1_000_000));
        assert!(modules_only(&deep("mod a {", "}")).is_err());
        assert!(modules_only(&format!("#[cfg({})] mod a;", deep("all(", ")"))).is_err());
        assert!(modules_only(&format!("#![cfg({})] mod a;", deep("all(", ")"))).is_err());
    }
}
