//! Visibility and layout of elements.

use super::dom::{Dom, Element, NodeData, NodeId};

impl Dom {
    /// Returns `true` if a node is visible. Text that is hidden from people must be hidden from models too, because it may
    /// contain instructions that only a model should read.
    pub(super) fn is_shown(&self, id: NodeId) -> bool {
        let NodeData::Element(element) = &self.node(id).data else { return true };
        is_displayed(element) && !self.is_copy(id, element)
    }

    /// Returns `true` for duplicated text: `aria-hidden` marks elements that accompany a text for screen readers, such as
    /// the drawn form of a formula. If the parent has an `aria-label`, the element is the only visible form.
    fn is_copy(&self, id: NodeId, element: &Element) -> bool {
        let has_label = |id: NodeId| self.element(id).is_some_and(|parent| parent.attribute("aria-label").is_some());
        element.attribute("aria-hidden") == Some("true")
            && matches!(element.tag(), "a" | "button" | "i" | "span")
            && !self.node(id).parent.is_some_and(has_label)
    }
}

/// Returns `true` if a browser displays an element, judging by the element itself.
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
    // `hidden=until-found` content is reachable by searching the page.
    let is_hidden = element.attribute("hidden").is_some_and(|how| !how.eq_ignore_ascii_case("until-found"));
    !never_shown && !is_hidden && !element.attribute("style").is_some_and(hides)
}

/// Returns `true` if an element starts a new paragraph.
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

/// Returns `true` if an element starts a new line within preformatted text.
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

/// Returns the sign for a superscript or subscript.
pub(super) fn script_sign(tag: &str) -> Option<&'static str> {
    match tag {
        "sup" => Some("^"),
        "sub" => Some("_"),
        _ => None,
    }
}
