//! What the names of elements mean to a reader.

use super::dom::Element;

/// Whether a reader of the page would see an element. What is hidden from people is hidden from models too: it is where
/// those write who want to be read by models only.
pub(super) fn is_shown(element: &Element) -> bool {
    let hides = |style: &str| {
        let style = style.to_ascii_lowercase().replace([' ', '\t', '\n'], "");
        style.contains("display:none") || style.contains("visibility:hidden")
    };
    let never_shown = matches!(
        element.tag(),
        "audio"
            | "canvas"
            | "datalist"
            | "embed"
            | "head"
            | "iframe"
            | "object"
            | "script"
            | "select"
            | "style"
            | "svg"
            | "template"
            | "video"
    );
    !never_shown && element.attribute("hidden").is_none() && !element.attribute("style").is_some_and(hides)
}

/// Whether an element begins a paragraph of its own.
pub(super) fn is_block(tag: &str) -> bool {
    matches!(
        tag,
        "address"
            | "article"
            | "aside"
            | "body"
            | "caption"
            | "center"
            | "details"
            | "dialog"
            | "div"
            | "dl"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "header"
            | "hgroup"
            | "legend"
            | "main"
            | "nav"
            | "p"
            | "search"
            | "section"
            | "summary"
    )
}
