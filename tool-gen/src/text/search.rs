//! Fast searches that decide whether a file has to be parsed.

use memchr::memmem;

/// Returns the offsets of the words `tool` and `tool_class` in the positions of an attribute or a `use`.
///
/// A hit may be in a comment. Without a hit the file has no annotation.
pub(crate) fn annotations(text: &[u8]) -> Vec<usize> {
    memmem::find_iter(text, b"tool").filter(|&at| is_annotation(text, at)).collect()
}

fn is_annotation(text: &[u8], at: usize) -> bool {
    let rest = &text[at + b"tool".len()..];
    // The macro `tools!` stands alone, or in a `use`.
    if let Some(rest) = rest.strip_prefix(b"s") {
        if rest.trim_ascii_start().first() == Some(&b'!') && !text[..at].last().is_some_and(|&before| is_word(before)) {
            return true;
        }
        let is_whole = rest.first().is_none_or(|&next| !is_word(next));
        return is_whole && matches!(text[..at].trim_ascii_end().last(), Some(b':' | b',' | b'{'));
    }
    let rest = rest.strip_prefix(b"_class").unwrap_or(rest);
    if rest.first().is_some_and(|&next| is_word(next)) {
        return false;
    }
    matches!(text[..at].trim_ascii_end().last(), Some(b'[' | b':' | b',' | b'(' | b'{'))
}

/// Returns `true` if the text may contain an attribute of this name.
pub(crate) fn may_be_attribute(text: &[u8], name: &[u8]) -> bool {
    memmem::find_iter(text, name).any(|at| {
        let is_whole = !text.get(at + name.len()).is_some_and(|&next| is_word(next));
        is_whole && matches!(text[..at].trim_ascii_end().last(), Some(b'[' | b':' | b','))
    })
}

/// Returns `true` if the text may contain `mod name;`.
pub(crate) fn may_declare_modules(text: &[u8]) -> bool {
    memmem::find_iter(text, b"mod").any(|at| {
        if at > 0 && is_word(text[at - 1]) {
            return false;
        }
        let rest = &text[at + b"mod".len()..];
        let name = rest.trim_ascii_start();
        if name.len() == rest.len() {
            // `mod/**/name` is valid Rust.
            return rest.starts_with(b"/");
        }
        let name = name.strip_prefix(b"r#").unwrap_or(name);
        let length = name.iter().take_while(|&&byte| is_word(byte)).count();
        matches!(name[length..].trim_ascii_start().first(), Some(b';' | b'/')) || name.starts_with(b"/")
    })
}

/// Returns the file of every `include!("file.rs")` in the text.
pub(crate) fn includes(text: &[u8]) -> impl Iterator<Item = &str> {
    const INCLUDE: &[u8] = b"include!";
    memmem::find_iter(text, INCLUDE).filter_map(|at| {
        let (bracket, behind) = text[at + INCLUDE.len()..].trim_ascii_start().split_first()?;
        let name = behind.trim_ascii_start().strip_prefix(b"\"").filter(|_| b"([{".contains(bracket))?;
        std::str::from_utf8(&name[..memchr::memchr(b'"', name)?]).ok()
    })
}

/// Returns the contents of the bracket with which a text begins.
#[cfg(feature = "cli")]
pub(crate) fn group_behind(text: &str) -> Option<&str> {
    let mut lexer = super::lexer::Lexer::new(text);
    let Some(super::lexer::SourceToken::Open(_)) = lexer.next() else { return None };
    let start = lexer.at;
    lexer.skip_group().then(|| &text[start..lexer.at - 1])
}

/// Returns `true` if a byte is part of a name. Bytes outside of ASCII count, because names may contain them.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_form_of_an_annotation() {
        for text in [
            "#[tool]",
            "#[ tool (name = \"x\")]",
            "#[tool_runtime::tool_class]",
            "#[cfg_attr(feature = \"ai\", tool)]",
            "use tool_runtime::tool as t;",
            "use tool_runtime::{tool, tool_class as class};",
        ] {
            assert!(!annotations(text.as_bytes()).is_empty(), "{text}");
        }
        for text in ["a tool for all", "toolbox", "#[toolbox]", "retool::x", "#[my_tool]", "`tool`", "tool_classes", ""]
        {
            assert!(annotations(text.as_bytes()).is_empty(), "{text}");
        }
    }

    #[test]
    fn finds_includes_of_literals() {
        let found: Vec<&str> = includes(b"include!(\"a.rs\"); include! { \"b/c.rs\" }").collect();
        assert_eq!(found, ["a.rs", "b/c.rs"]);
        let others = b"include!(concat!(env!(\"OUT_DIR\"), \"/a.rs\")); include_str!(\"a\"); include!(\"a";
        assert_eq!(includes(others).next(), None);
    }

    #[test]
    fn finds_every_form_of_a_module_declaration() {
        for text in ["mod a;", "pub(crate) mod  a ;", "mod r#type;", "}mod\na\n;", "mod /* x */ a;", "mod a // x\n;"] {
            assert!(may_declare_modules(text.as_bytes()), "{text}");
        }
        for text in ["mod tests { }", "modal;", "a_mod x;", "// the mod of", "mod"] {
            assert!(!may_declare_modules(text.as_bytes()), "{text}");
        }
    }
}
