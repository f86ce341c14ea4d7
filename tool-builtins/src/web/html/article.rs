//! Detection of a page's main content.

use super::dom::{DOCUMENT, Dom, Element, NodeData, NodeId};

/// A part with at least this many characters is content, whatever surrounds it.
const MIN_CONTENT: usize = 200;

/// The content of a page: its root node, and the text weights that identify navigation in it.
pub(super) struct Article {
    pub(super) root: NodeId,
    /// `true` if navigation is left out.
    without_navigation: bool,
    weights: Vec<TextWeight>,
}

/// The amount of text below a node, in non-white-space characters.
#[derive(Clone, Copy, Default)]
struct TextWeight {
    all: usize,
    /// The share inside links.
    linked: usize,
    /// The share inside navigation.
    navigation: usize,
    /// `true` if it contains a page title or an element marked as content.
    has_content: bool,
}

impl TextWeight {
    fn content(self) -> usize {
        self.all - self.navigation
    }
}

impl Article {
    /// Finds the content of a page.
    ///
    /// The content is the only `main` element if it has at least a quarter of the non-navigation text, since footers and
    /// dialogs can be long. Otherwise it is the only `article`, if it has at least half of that text. A page that
    /// consists almost entirely of navigation is taken whole.
    pub(super) fn find(dom: &Dom) -> Self {
        let mut article = Self { root: DOCUMENT, without_navigation: false, weights: Vec::new() };
        let marked = article.weigh(dom);
        let page = article.weights[DOCUMENT];
        let only = |is_marked: fn(&Element) -> bool| {
            let mut marked = marked.iter().copied().filter(|&id| dom.element(id).is_some_and(is_marked));
            marked.next().filter(|_| marked.next().is_none())
        };
        let content = |id: NodeId| article.weights[id].content();
        let has_part = |id: NodeId, part: usize| content(id) > 0 && content(id) * part >= page.content();
        let main = only(is_main).filter(|&id| has_part(id, 4));
        let alone = || only(|element| element.tag() == "article").filter(|&id| has_part(id, 2));
        let root = main.or_else(alone).unwrap_or(DOCUMENT);
        if content(root) >= MIN_CONTENT || content(root) * 8 >= article.weights[root].all {
            (article.root, article.without_navigation) = (root, true);
        }
        article
    }

    /// Returns how many characters of the page are left out.
    pub(super) fn left_out(&self) -> usize {
        let (page, root) = (self.weights[DOCUMENT], self.weights[self.root]);
        if self.without_navigation { page.all - root.content() } else { 0 }
    }

    /// Returns `true` if an element is navigation and is left out.
    pub(super) fn is_left_out(&self, id: NodeId, element: &Element) -> bool {
        self.without_navigation && (is_navigation(element, self.weights[id]) || is_skip_link(element))
    }

    /// Weighs all visible nodes, and returns the outermost ones that are marked as content.
    fn weigh(&mut self, dom: &Dom) -> Vec<NodeId> {
        self.weights = vec![TextWeight::default(); dom.len()];
        let mut marked = Vec::new();
        // Each node is visited twice: before its descendants, and after.
        let mut waiting = vec![(DOCUMENT, false)];
        let mut inside_main = 0_usize;
        while let Some((id, is_done)) = waiting.pop() {
            let data = &dom.node(id).data;
            if let NodeData::Text(text) = data {
                self.weights[id].all = text.chars().filter(|c| !c.is_whitespace()).count();
                continue;
            }
            let is_marked = matches!(data, NodeData::Element(element) if is_main(element));
            if !is_done {
                if !dom.is_shown(id) {
                    continue;
                }
                if is_marked {
                    inside_main += 1;
                }
                if (is_marked && inside_main == 1) || dom.tag(id) == Some("article") {
                    marked.push(id);
                }
                waiting.push((id, true));
                waiting.extend(dom.children(id).rev().map(|id| (id, false)));
                continue;
            }
            if is_marked {
                inside_main -= 1;
            }
            let mut weight = TextWeight::default();
            for child in dom.children(id) {
                let child = self.weights[child];
                weight.all += child.all;
                weight.linked += child.linked;
                weight.navigation += child.navigation;
                weight.has_content |= child.has_content;
            }
            if let NodeData::Element(element) = data {
                weight.has_content |= is_marked || matches!(element.tag(), "article" | "h1");
                if element.tag() == "a" {
                    weight.linked = weight.all;
                }
                if is_navigation(element, weight) {
                    weight.navigation = weight.all;
                }
            }
            self.weights[id] = weight;
        }
        marked
    }
}

fn is_main(element: &Element) -> bool {
    element.tag() == "main" || element.attribute("role") == Some("main")
}

/// Returns `true` for navigation: elements with that role or tag, and lists of links whose class or id suggests it.
fn is_navigation(element: &Element, weight: TextWeight) -> bool {
    let is_declared = match element.attribute("role") {
        Some(role) => matches!(role, "navigation" | "menu" | "menubar"),
        None => element.tag() == "nav",
    };
    let is_links = weight.linked * 10 >= weight.all * 7 && !weight.has_content;
    let is_part = matches!(element.tag(), "aside" | "details" | "div" | "header" | "ol" | "section" | "ul");
    let mut names = element.classes().chain(element.attribute("id"));
    is_declared || (is_part && is_links && names.any(names_navigation))
}

fn names_navigation(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["breadcrumb", "navbar", "pagination", "sidebar", "table-of-contents", "tableofcontents"]
        .iter()
        .any(|part| name.contains(part))
        || name.split(['-', '_']).any(|word| matches!(word, "menu" | "nav" | "toc"))
}

/// Returns `true` for a link that skips the navigation.
fn is_skip_link(element: &Element) -> bool {
    element.tag() == "a"
        && element.attribute("href").is_some_and(|href| href.starts_with('#'))
        && element.classes().any(|class| class.to_ascii_lowercase().contains("skip"))
}
