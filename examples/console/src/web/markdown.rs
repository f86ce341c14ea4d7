//! Renders a model's Markdown as safe HTML.

use std::sync::LazyLock;

use ammonia::Builder;
use maud::{Markup, PreEscaped};
use pulldown_cmark::{Event, Options, Parser, html};

/// Sanitizes HTML: no images, which would be loaded from other servers, no referrers, and no scripts or elements that
/// imitate the page.
static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::default();
    builder
        .rm_tags(["img", "map", "area", "details", "summary"])
        .url_schemes(["http", "https", "mailto"].into())
        .link_rel(Some("noopener noreferrer nofollow"));
    builder
});

/// Renders Markdown as sanitized HTML. Embedded HTML is shown as text.
#[must_use]
pub fn markdown(text: &str) -> Markup {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events = Parser::new_ext(text, options).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        event => event,
    });
    let mut rendered = String::new();
    html::push_html(&mut rendered, events);
    PreEscaped(CLEANER.clean(&rendered).to_string())
}

#[cfg(test)]
mod tests {
    use super::markdown;

    #[test]
    fn markup_is_rendered() {
        let shown = markdown("**bold** and `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |").into_string();
        assert!(shown.contains("<strong>bold</strong>") && shown.contains("<code>code</code>"), "{shown}");
        assert!(shown.contains("<td>1</td>"), "{shown}");
    }

    /// Control: the renderer alone does not escape them.
    #[test]
    fn what_could_run_is_text() {
        let hostile = [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "[press](javascript:alert(1))",
            "![x](http://elsewhere/pixel.png)",
            "<svg onload=alert(1)>",
            "a <b onmouseover=alert(1)>b</b>",
            "[x](data:text/html,<script>alert(1)</script>)",
        ];
        for text in hostile {
            let mut naive = String::new();
            pulldown_cmark::html::push_html(&mut naive, pulldown_cmark::Parser::new(text));
            let dangerous = |html: &str| {
                ["<script", "<img", "<svg", "<b onmouse", "href=\"javascript", "href=\"data"]
                    .iter()
                    .any(|bad| html.contains(bad))
            };
            assert!(dangerous(&naive), "the control does not escape: {naive}");
            let shown = markdown(text).into_string();
            assert!(!dangerous(&shown), "{shown}");
        }
    }
}
