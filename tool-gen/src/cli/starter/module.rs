//! Declaring a module in the root file of a crate.

use syn::Item;
use syn::spanned::Spanned;

/// Returns the text of a root file with `mod name;`, before its first module or else its first item.
pub(super) fn declare(text: &str, name: &str, public: bool) -> Result<String, String> {
    let file = syn::parse_file(text).map_err(|error| {
        let start = error.span().start();
        format!("not valid Rust at line {} column {}: {error}", start.line, start.column + 1)
    })?;
    let is_named = |item: &Item| matches!(item, Item::Mod(module) if module.ident == name);
    if file.items.iter().any(is_named) {
        return Ok(text.to_owned());
    }
    let visibility = if public { "pub " } else { "" };
    let is_file = |item: &&Item| matches!(item, Item::Mod(module) if module.content.is_none());
    let declared = match file.items.iter().find(is_file).or_else(|| file.items.first()) {
        None if text.is_empty() => format!("{visibility}mod {name};\n"),
        None => format!("{}\n\n{visibility}mod {name};\n", text.trim_end()),
        Some(item) => {
            let at = offset(text, item.span().start());
            let separator = if is_file(&item) { "\n" } else { "\n\n" };
            format!("{}{visibility}mod {name};{separator}{}", &text[..at], &text[at..])
        }
    };
    // A shebang or a byte order mark shifts the positions.
    match syn::parse_file(&declared) {
        Ok(file) if file.items.iter().any(is_named) => Ok(declared),
        _ => Err(format!("cannot add `{visibility}mod {name};`; add it by hand")),
    }
}

/// Returns the byte offset of a position.
fn offset(text: &str, position: proc_macro2::LineColumn) -> usize {
    let line_start: usize = text.split_inclusive('\n').take(position.line.saturating_sub(1)).map(str::len).sum();
    let line = &text[line_start..];
    line_start + line.char_indices().nth(position.column).map_or(line.len(), |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declaration_is_after_the_documentation_and_before_other_modules() {
        for (before, after) in [
            ("", "mod tools;\n"),
            ("//! Shop.\n", "//! Shop.\n\nmod tools;\n"),
            ("//! Größe.\n#![allow(x)]\n\nfn main() {}\n", "//! Größe.\n#![allow(x)]\n\nmod tools;\n\nfn main() {}\n"),
            ("use a::b;\n\nmod z;\n", "use a::b;\n\nmod tools;\nmod z;\n"),
            ("/// Starts.\nfn main() {}\n", "mod tools;\n\n/// Starts.\nfn main() {}\n"),
        ] {
            assert_eq!(declare(before, "tools", false).as_deref(), Ok(after));
            assert_eq!(declare(after, "tools", false).as_deref(), Ok(after), "a second run changes nothing");
        }
        assert_eq!(declare("fn a() {}", "tools", true).as_deref(), Ok("pub mod tools;\n\nfn a() {}"));
    }

    #[test]
    fn invalid_rust_is_an_error_with_its_place() {
        let error = declare("fn main() {\n  let = 1;\n}\n", "tools", false).unwrap_err();
        assert!(error.starts_with("not valid Rust at line 2 column 7"), "{error}");
    }
}
