//! The source text of types and expressions, for messages.

use quote::ToTokens;
use syn::spanned::Spanned;

/// Returns the source text of a type or an expression, on one line.
pub(crate) fn source_text(tokens: &impl ToTokens) -> String {
    let tokens = tokens.to_token_stream();
    let spaced = tokens.to_string();
    let is_same = |text: &String| {
        let letters = |text: &str| -> String { text.split_whitespace().collect() };
        letters(text) == letters(&spaced)
    };
    // Generated tokens have no source text.
    match tokens.span().source_text().filter(is_same) {
        Some(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        None => tightened(spaced),
    }
}

/// Removes most of the spaces that `TokenStream` puts between tokens.
fn tightened(mut text: String) -> String {
    for (spaced, plain) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" ::", "::"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        ("& ", "&"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
    ] {
        text = text.replace(spaced, plain);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_the_source_text() {
        for text in ["if cfg!(windows) { 1 } else { 2 }", "255u8.wrapping_add(2)", "1 << 40", "a::<B<C>>(&d, [e; 2])?"]
        {
            let expr: syn::Expr = syn::parse_str(text).unwrap();
            assert_eq!(source_text(&expr), text);
        }
        let expr: syn::Expr = syn::parse_str("f(\n    1,\n    2)").unwrap();
        assert_eq!(source_text(&expr), "f( 1, 2)");
        assert_eq!(source_text(&quote::quote!(std::vec::Vec<&'static str>)), "std::vec::Vec<&'static str>");
    }
}
