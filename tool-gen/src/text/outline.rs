//! A text with the parts left out that say nothing of tools and types.
//!
//! What is left out becomes blank, so that lines and columns stay what they were.

use super::blank::Blank;
use super::lexer::{Lexer, Token};
use super::nesting::{Nesting, TooDeep};

/// Functions without parameters up to this length keep their bodies: serde's `default = ".."` names such.
const SHORT_BODY: usize = 2_000;

/// Constants are kept up to this length: what is longer is no default of anything.
const SHORT_VALUE: usize = 2_000;

/// The text without the bodies of functions and of `macro_rules!`, but for those that hold one of the `annotations`,
/// and without the values of long constants.
pub(crate) fn without_bodies(text: &str, annotations: &[usize]) -> Result<String, TooDeep> {
    let mut lexer = Lexer::new(text);
    let mut blank = Blank::new(text);
    let mut nesting = Nesting::default();
    let holds_one = |from: usize, to: usize| {
        let next = annotations.partition_point(|&at| at < from);
        annotations.get(next).is_some_and(|&at| at < to)
    };
    // How many brackets are around the constant that is being read, if one is.
    let mut constant = None;
    let mut before = None;
    while let Some(token) = lexer.next() {
        nesting.step(token, &lexer)?;
        let body = match token {
            Token::Word(b"fn") if matches!(lexer.peek(), Some(Token::Word(_))) => {
                function_body(&mut lexer, &mut nesting)?
            }
            Token::Word(b"macro_rules") => macro_body(&mut lexer, &mut nesting)?,
            Token::Word(b"const" | b"static") if is_constant(&lexer, before) => {
                constant = Some(nesting.depth());
                None
            }
            Token::Sign(b'=') if constant == Some(nesting.depth()) && nesting.is_outside_of_angles() => {
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
            let keep = holds_one(start, end) || (body == Body::OfNoParameters && end - start <= SHORT_BODY);
            if !keep {
                blank.leave_out(lexer.inner_attributes_end().min(end), end);
                lexer = behind;
                nesting.close(b'}', &lexer);
                before = Some(Token::Close(b'}'));
            }
        }
    }
    Ok(blank.finish())
}

/// Whether `const` or `static` begins an item: it may also stand in a type or among the parameters of one.
fn is_constant(lexer: &Lexer<'_>, before: Option<Token<'_>>) -> bool {
    let mut ahead = lexer.clone();
    let named = match ahead.next() {
        Some(Token::Word(b"mut" | b"ref")) => ahead.next(),
        first => first,
    };
    matches!(named, Some(Token::Word(_)))
        && ahead.next() == Some(Token::Sign(b':'))
        && !matches!(before, Some(Token::Sign(b'<' | b',' | b'*')))
}

/// Goes to the semicolon behind a value, and gives back where it stands.
fn end_of_value(lexer: &mut Lexer<'_>) -> Option<usize> {
    loop {
        match lexer.next()? {
            Token::Sign(b';') => {
                lexer.at = lexer.start;
                return Some(lexer.start);
            }
            Token::Open(_) if !lexer.skip_group() => return None,
            Token::Close(_) => return None,
            _ => {}
        }
    }
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
        nesting.step(token, lexer)?;
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
fn macro_body(lexer: &mut Lexer<'_>, nesting: &mut Nesting) -> Result<Option<Body>, TooDeep> {
    let mut ahead = lexer.clone();
    let is_macro = ahead.next() == Some(Token::Sign(b'!'))
        && matches!(ahead.next(), Some(Token::Word(_)))
        && matches!(ahead.peek(), Some(Token::Open(_)));
    if !is_macro {
        return Ok(None);
    }
    *lexer = ahead;
    if let Some(token) = lexer.next() {
        nesting.step(token, lexer)?;
    }
    Ok(Some(Body::Other))
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
    fn inner_attributes_are_kept() {
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
    fn long_values_are_left_out() {
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
    fn deep_nesting_is_refused_unless_it_is_left_out() {
        let deep = |open: &str, close: &str| format!("{}{}", open.repeat(1_000_000), close.repeat(1_000_000));
        assert!(without_bodies(&format!("fn a(x: u8) {{ {} }}", deep("(", ")")), &[]).is_ok());
        for text in [deep("(", ")"), deep("[", "]"), deep("Option<", ">"), deep("&", ""), deep("{", "")] {
            assert!(without_bodies(&format!("fn a(x: {text}) {{}}"), &[]).is_err(), "{}", &text[..20]);
        }
    }
}
