//! The tree of a page, as html5ever builds it.
//!
//! Nodes stand in one list and name each other by their place in it, so that no page, however deeply nested, is walked
//! or dropped by recursion.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::str::FromStr;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, ExpandedName, QualName, local_name, ns};

/// The place of a node.
pub(super) type Id = usize;

/// The place of the document itself.
pub(super) const DOCUMENT: Id = 0;

/// A node of a page.
pub(super) struct Node {
    pub(super) parent: Option<Id>,
    pub(super) children: Vec<Id>,
    pub(super) data: Data,
    depth: usize,
}

/// What a node is.
pub(super) enum Data {
    Element(Element),
    Text(String),
    /// The document, a comment, or anything else that shows nothing by itself.
    Other,
}

/// An element, with those of its attributes that matter to a reader.
pub(super) struct Element {
    name: Rc<QualName>,
    attributes: Vec<Attribute>,
}

impl Element {
    /// The tag's name.
    pub(super) fn tag(&self) -> &str {
        &self.name.local
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
    }

    /// Returns a number that stands in an attribute.
    pub(super) fn number<T: FromStr>(&self, name: &str) -> Option<T> {
        self.attribute(name)?.trim().parse().ok()
    }

    /// Returns the names in the `class` attribute, unless it is very long: elements inside look at it again and again.
    pub(super) fn classes(&self) -> impl Iterator<Item = &str> {
        let classes = self.attribute("class").filter(|classes| classes.len() <= LONGEST_CLASSES);
        classes.into_iter().flat_map(str::split_ascii_whitespace)
    }
}

/// A finished tree.
pub(super) struct Dom {
    nodes: Vec<Node>,
}

impl Dom {
    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    pub(super) fn element(&self, id: Id) -> Option<&Element> {
        match &self.nodes[id].data {
            Data::Element(element) => Some(element),
            _ => None,
        }
    }

    pub(super) fn tag(&self, id: Id) -> Option<&str> {
        self.element(id).map(Element::tag)
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn children(&self, id: Id) -> impl DoubleEndedIterator<Item = Id> {
        self.nodes[id].children.iter().copied()
    }

    /// The first element of a name, in the order of the page.
    pub(super) fn first(&self, tag: &str) -> Option<Id> {
        (0..self.nodes.len()).find(|&id| self.tag(id) == Some(tag))
    }

    /// Returns the nodes below a node in the order of the page, without those for which `enters` returns `false` and
    /// without what is below them.
    pub(super) fn below(&self, id: Id, enters: impl Fn(Id) -> bool) -> impl Iterator<Item = Id> {
        let mut waiting: Vec<Id> = self.children(id).rev().collect();
        std::iter::from_fn(move || {
            loop {
                let id = waiting.pop()?;
                if enters(id) {
                    waiting.extend(self.children(id).rev());
                    return Some(id);
                }
            }
        })
    }

    /// Returns the beginning of the text below a node with single spaces between its words, or `None` if the text is
    /// longer than `most` characters or stands in many elements.
    pub(super) fn short_text(&self, id: Id, most: usize) -> Option<String> {
        let mut text = String::new();
        for (count, id) in self.below(id, |id| self.is_shown(id)).enumerate() {
            let part = if let Data::Text(part) = &self.nodes[id].data { part } else { "" };
            if count > MOST_SHORT_NODES || text.len() + part.len() > 4 * most + MOST_SPACE {
                return None;
            }
            text.push_str(part);
        }
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (text.chars().count() <= most).then_some(text)
    }
}

/// The longest `class` attribute that is read, in bytes.
const LONGEST_CLASSES: usize = 4_096;
/// A short text in more nodes than this is not read.
const MOST_SHORT_NODES: usize = 64;
/// How many bytes of white space around a short text are read.
const MOST_SPACE: usize = 1_024;

/// A tree that is being built.
pub(super) struct Building {
    nodes: RefCell<Vec<Node>>,
    deepest: Cell<usize>,
}

impl Building {
    pub(super) fn new() -> Self {
        let document = Node { parent: None, children: Vec::new(), data: Data::Other, depth: 0 };
        Self { nodes: RefCell::new(vec![document]), deepest: Cell::new(0) }
    }

    /// How many nodes there are. A few bytes of HTML can make any number of them: open formatting elements are
    /// repeated in every paragraph.
    pub(super) fn size(&self) -> usize {
        self.nodes.borrow().len()
    }

    /// How deep it is. For each tag the parser looks through the elements that are open, so that depth costs time.
    pub(super) fn depth(&self) -> usize {
        self.deepest.get()
    }

    fn add(&self, data: Data) -> Id {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Node { parent: None, children: Vec::new(), data, depth: 0 });
        nodes.len() - 1
    }

    fn detach(&self, id: Id) {
        let mut nodes = self.nodes.borrow_mut();
        if let Some(parent) = nodes[id].parent.take() {
            // What moves stands near the end: it was just put there.
            let place = nodes[parent].children.iter().rposition(|&child| child == id);
            place.map(|place| nodes[parent].children.remove(place));
        }
    }

    /// Puts something before the child at a place, or at the end.
    fn insert(&self, parent: Id, place: Option<usize>, child: NodeOrText<Handle>) {
        let id = match child {
            NodeOrText::AppendNode(node) => {
                self.detach(node.id);
                node.id
            }
            NodeOrText::AppendText(text) => {
                let mut nodes = self.nodes.borrow_mut();
                let place = place.unwrap_or(nodes[parent].children.len());
                let before = place.checked_sub(1).map(|before| nodes[parent].children[before]);
                if let Some(before) = before
                    && let Data::Text(existing) = &mut nodes[before].data
                {
                    existing.push_str(&text);
                    return;
                }
                drop(nodes);
                self.add(Data::Text(text.to_string()))
            }
        };
        let mut nodes = self.nodes.borrow_mut();
        let depth = nodes[parent].depth + 1;
        let place = place.unwrap_or(nodes[parent].children.len());
        nodes[parent].children.insert(place, id);
        nodes[id].parent = Some(parent);
        nodes[id].depth = depth;
        self.deepest.set(self.deepest.get().max(depth));
    }
}

/// A node, as html5ever knows it.
#[derive(Clone)]
pub(super) struct Handle {
    id: Id,
    name: Option<Rc<QualName>>,
}

/// The attributes that are kept.
fn matters(attribute: &Attribute) -> bool {
    matches!(
        &*attribute.name.local,
        "alt"
            | "alttext"
            | "aria-hidden"
            | "aria-label"
            | "class"
            | "colspan"
            | "data-lang"
            | "data-language"
            | "display"
            | "encoding"
            | "hidden"
            | "href"
            | "id"
            | "open"
            | "popover"
            | "reversed"
            | "role"
            | "rowspan"
            | "src"
            | "start"
            | "style"
            | "value"
    )
}

impl TreeSink for Building {
    type Handle = Handle;
    type Output = Dom;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Dom {
        Dom { nodes: self.nodes.into_inner() }
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { id: DOCUMENT, name: None }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        const NOTHING: ExpandedName<'static> = ExpandedName { ns: &ns!(), local: &local_name!("") };
        target.name.as_ref().map_or(NOTHING, |name| name.expanded())
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Handle {
        let name = Rc::new(name);
        let attributes = attributes.into_iter().filter(matters).collect();
        Handle { id: self.add(Data::Element(Element { name: name.clone(), attributes })), name: Some(name) }
    }

    fn create_comment(&self, _: StrTendril) -> Handle {
        Handle { id: self.add(Data::Other), name: None }
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Handle {
        Handle { id: self.add(Data::Other), name: None }
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.insert(parent.id, None, child);
    }

    fn append_based_on_parent_node(&self, element: &Handle, previous: &Handle, child: NodeOrText<Handle>) {
        let has_parent = self.nodes.borrow()[element.id].parent.is_some();
        if has_parent { self.append_before_sibling(element, child) } else { self.append(previous, child) }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    /// What stands in a template is not shown: it becomes the template's own, and the template is passed over.
    fn get_template_contents(&self, target: &Handle) -> Handle {
        target.clone()
    }

    fn same_node(&self, one: &Handle, other: &Handle) -> bool {
        one.id == other.id
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, new: NodeOrText<Handle>) {
        if let NodeOrText::AppendNode(node) = &new {
            self.detach(node.id);
        }
        let nodes = self.nodes.borrow();
        let Some(parent) = nodes[sibling.id].parent else { return };
        let place = nodes[parent].children.iter().rposition(|&child| child == sibling.id);
        drop(nodes);
        self.insert(parent, place, new);
    }

    fn add_attrs_if_missing(&self, _: &Handle, _: Vec<Attribute>) {
        // Only `html` and `body` get attributes this way, and none of theirs matters here.
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.detach(target.id);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let mut nodes = self.nodes.borrow_mut();
        let children = std::mem::take(&mut nodes[node.id].children);
        let depth = nodes[new_parent.id].depth + 1;
        for &child in &children {
            nodes[child].parent = Some(new_parent.id);
            nodes[child].depth = depth;
        }
        nodes[new_parent.id].children.extend(children);
    }

    fn allow_declarative_shadow_roots(&self, _: &Handle) -> bool {
        false
    }
}
