//! Text of a definition with code in backquotes.

use maud::{Markup, html};

/// Renders text with code in backquotes. An unpaired backquote is text.
pub(super) fn inline_code(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (index, part) in parts.iter().enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::inline_code;

    #[test]
    fn code_is_code_and_all_else_is_text() {
        assert_eq!(inline_code("a `b` <c>").into_string(), "a <code>b</code> &lt;c&gt;");
        assert_eq!(inline_code("a `b").into_string(), "a `b");
        assert_eq!(inline_code("`<b>`").into_string(), "<code>&lt;b&gt;</code>");
    }
}
