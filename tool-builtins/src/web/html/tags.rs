//! What the names of elements mean to a reader.

use super::dom::{Data, Dom, Element, Id};

impl Dom {
    /// Returns `true` if a reader of the page sees a node. Text that is hidden from people is hidden from models too:
    /// instructions that only a model should read are written there.
    pub(super) fn is_shown(&self, id: Id) -> bool {
        let Data::Element(element) = &self.node(id).data else { return true };
        is_displayed(element) && !self.is_copy(id, element)
    }

    /// Returns `true` for text that is said twice: `aria-hidden` is set on what stands beside a text for screen readers,
    /// such as the drawn form of a formula. A label on the element around it takes its place for screen readers only.
    fn is_copy(&self, id: Id, element: &Element) -> bool {
        let has_label = |id: Id| self.element(id).is_some_and(|parent| parent.attribute("aria-label").is_some());
        element.attribute("aria-hidden") == Some("true")
            && matches!(element.tag(), "a" | "button" | "i" | "span")
            && !self.node(id).parent.is_some_and(has_label)
    }
}

/// Returns `true` if a browser displays an element, as far as the element itself says.
fn is_displayed(element: &Element) -> bool {
    let hides = |style: &str| {
        let style = style.to_ascii_lowercase().replace([' ', '\t', '\n'], "");
        style.contains("display:none") || style.contains("visibility:hidden")
    };
    let never_shown = match element.tag() {
        "annotation" | "annotation-xml" | "audio" | "canvas" | "datalist" | "embed" | "head" | "iframe" | "meter"
        | "noembed" | "noframes" | "object" | "progress" | "rp" | "script" | "select" | "style" | "svg"
        | "template" | "title" | "video" => true,
        "dialog" => element.attribute("open").is_none(),
        _ => element.attribute("popover").is_some(),
    };
    // What is hidden until it is found is there to be found.
    let is_hidden = element.attribute("hidden").is_some_and(|how| !how.eq_ignore_ascii_case("until-found"));
    !never_shown && !is_hidden && !element.attribute("style").is_some_and(hides)
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

/// Returns `true` if an element begins a line of its own within preformatted text.
pub(super) fn is_line(tag: &str) -> bool {
    is_block(tag)
        || matches!(
            tag,
            "blockquote"
                | "dd"
                | "dt"
                | "h1"
                | "h2"
                | "h3"
                | "h4"
                | "h5"
                | "h6"
                | "li"
                | "ol"
                | "pre"
                | "table"
                | "tr"
                | "ul"
        )
}

/// Returns the sign that stands for a raised or lowered text in a line.
pub(super) fn script_sign(tag: &str) -> Option<&'static str> {
    match tag {
        "sup" => Some("^"),
        "sub" => Some("_"),
        _ => None,
    }
}
