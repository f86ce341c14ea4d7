//! The modules that a text declares.

use super::blank::Blank;
use super::lexer::{Lexer, Token};
use super::nesting::{TooDeep, check_nesting};
use super::search::may_declare_modules;

/// How deep modules in braces may be nested.
const DEEPEST_MODULE: usize = 200;

/// What declares modules in a text.
#[derive(Debug)]
pub(crate) struct Modules {
    /// The text with nothing else in it.
    pub(crate) text: String,
    /// The macros that hold `mod name;`, by their names, and where they hold it.
    pub(crate) in_macros: Vec<(String, usize)>,
}

/// The text with nothing but its modules and its inner attributes.
///
/// # Errors
/// When its modules are nested too deeply, or what stands in the attributes before them.
pub(crate) fn modules_only(text: &str) -> Result<Modules, TooDeep> {
    let mut lexer = Lexer::new(text);
    let mut blank = Blank::new(text);
    // Where the item begins that is being read, with its attributes.
    let mut item = 0;
    let mut depth = 0_usize;
    let mut in_macros = Vec::new();
    // The last two tokens.
    let mut before = [None, None];
    let check = |from: usize, to: usize| check_nesting(&text[from..to]).map_err(|deep| TooDeep { at: from + deep.at });
    while let Some(token) = lexer.next() {
        match token {
            Token::Word(b"mod") if matches!(lexer.peek(), Some(Token::Word(_))) => {
                check(item, lexer.start)?;
                blank.leave_out_to(item);
                lexer.next();
                if matches!(lexer.next(), Some(Token::Open(_))) {
                    depth += 1;
                    if depth > DEEPEST_MODULE {
                        return Err(TooDeep { at: lexer.start });
                    }
                }
                item = lexer.at;
                blank.keep_to(item);
            }
            Token::Sign(b'#') if lexer.peek() == Some(Token::Sign(b'!')) => {
                let start = lexer.start;
                lexer.next();
                if matches!(lexer.next(), Some(Token::Open(b'['))) {
                    lexer.skip_group();
                    check(start, lexer.at)?;
                    blank.leave_out_to(start);
                    item = lexer.at;
                    blank.keep_to(item);
                }
            }
            Token::Open(bracket) => {
                let start = lexer.at;
                lexer.skip_group();
                if let [Some(Token::Word(name)), Some(Token::Sign(b'!'))] = before
                    && let Some(at) = module_in(&text[start..lexer.at])
                {
                    in_macros.push((String::from_utf8_lossy(name).into_owned(), start + at));
                }
                if bracket == b'{' {
                    item = lexer.at;
                }
            }
            // Of an inline module: other groups are passed over as a whole.
            Token::Close(_) => {
                depth = depth.saturating_sub(1);
                blank.leave_out_to(lexer.start);
                item = lexer.at;
                blank.keep_to(item);
            }
            Token::Sign(b';') => item = lexer.at,
            _ => {}
        }
        before = [before[1], Some(token)];
    }
    blank.leave_out_to(text.len());
    Ok(Modules { text: blank.finish(), in_macros })
}

/// Where `mod name;` stands in a part of a text.
fn module_in(text: &str) -> Option<usize> {
    if !may_declare_modules(text.as_bytes()) {
        return None;
    }
    let mut lexer = Lexer::new(text);
    while let Some(token) = lexer.next() {
        let at = lexer.start;
        let mut ahead = lexer.clone();
        if token == Token::Word(b"mod")
            && matches!(ahead.next(), Some(Token::Word(_)))
            && ahead.next() == Some(Token::Sign(b';'))
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
    fn modules_are_all_that_remains() {
        let text = "#![cfg(a)]\n//! x\nuse b::{c};\n#[path = \"d.rs\"]\npub mod d;\nfn e() { mod no {} }\nmod f { struct G { h: i8 } mod i; }\nconst J: u8 = { 1 } + 2;\n/// k\nmod k;\n";
        assert_eq!(
            squeezed(&modules_only(text).unwrap().text),
            "#![cfg(a)] #[path = \"d.rs\"] pub mod d; mod f { mod i; } /// k mod k;"
        );
        let line = |text: &str, word| text.lines().position(|line| line.contains(word));
        assert_eq!(line(text, "mod k"), line(&modules_only(text).unwrap().text, "mod k"));
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = |open: &str, close: &str| format!("{}{}", open.repeat(1_000_000), close.repeat(1_000_000));
        assert!(modules_only(&deep("mod a {", "}")).is_err());
        assert!(modules_only(&format!("#[cfg({})] mod a;", deep("all(", ")"))).is_err());
        assert!(modules_only(&format!("#![cfg({})] mod a;", deep("all(", ")"))).is_err());
    }
}
