//! The document tree, built by html5ever.
//!
//! Nodes are stored in one list and refer to each other by index, so that even deeply nested pages are traversed and
//! dropped without recursion.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::str::FromStr;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, ExpandedName, QualName, local_name, ns};

/// The index of a node.
pub(super) type NodeId = usize;

/// The index of the document node.
pub(super) const DOCUMENT: NodeId = 0;

/// A node of the document.
pub(super) struct DomNode {
    pub(super) parent: Option<NodeId>,
    pub(super) children: Vec<NodeId>,
    pub(super) data: NodeData,
    depth: usize,
}

/// The content of a node.
pub(super) enum NodeData {
    Element(Element),
    Text(String),
    /// The document, a comment, or another node without visible content.
    Other,
}

/// An element, with the attributes that affect rendering.
pub(super) struct Element {
    name: Rc<QualName>,
    attributes: Vec<Attribute>,
}

impl Element {
    /// Returns the tag name.
    pub(super) fn tag(&self) -> &str {
        &self.name.local
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
    }

    /// Parses the number in an attribute.
    pub(super) fn number<T: FromStr>(&self, name: &str) -> Option<T> {
        self.attribute(name)?.trim().parse().ok()
    }

    /// Returns the names in the `class` attribute. A very long attribute is ignored, because descendants read it again.
    pub(super) fn classes(&self) -> impl Iterator<Item = &str> {
        let classes = self.attribute("class").filter(|classes| classes.len() <= MAX_CLASSES);
        classes.into_iter().flat_map(str::split_ascii_whitespace)
    }
}

/// A finished tree.
pub(super) struct Dom {
    nodes: Vec<DomNode>,
}

impl Dom {
    pub(super) fn node(&self, id: NodeId) -> &DomNode {
        &self.nodes[id]
    }

    pub(super) fn element(&self, id: NodeId) -> Option<&Element> {
        match &self.nodes[id].data {
            NodeData::Element(element) => Some(element),
            _ => None,
        }
    }

    pub(super) fn tag(&self, id: NodeId) -> Option<&str> {
        self.element(id).map(Element::tag)
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn children(&self, id: NodeId) -> impl DoubleEndedIterator<Item = NodeId> {
        self.nodes[id].children.iter().copied()
    }

    /// Returns the first element with this tag, in document order.
    pub(super) fn first(&self, tag: &str) -> Option<NodeId> {
        (0..self.nodes.len()).find(|&id| self.tag(id) == Some(tag))
    }

    /// Returns the descendants of a node in document order, skipping those for which `enters` returns `false` and their
    /// descendants.
    pub(super) fn descendants(&self, id: NodeId, enters: impl Fn(NodeId) -> bool) -> impl Iterator<Item = NodeId> {
        let mut waiting: Vec<NodeId> = self.children(id).rev().collect();
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

    /// Returns the text below a node with single spaces between words, or `None` if it is longer than `limit` characters
    /// or spread over many elements.
    pub(super) fn short_text(&self, id: NodeId, limit: usize) -> Option<String> {
        let mut text = String::new();
        for (count, id) in self.descendants(id, |id| self.is_shown(id)).enumerate() {
            let part = if let NodeData::Text(part) = &self.nodes[id].data { part } else { "" };
            if count > MAX_SHORT_NODES || text.len() + part.len() > 4 * limit + MAX_SPACE {
                return None;
            }
            text.push_str(part);
        }
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (text.chars().count() <= limit).then_some(text)
    }
}

/// The maximum length of a `class` attribute in bytes.
const MAX_CLASSES: usize = 4_096;
/// The maximum number of nodes that a short text may be spread over.
const MAX_SHORT_NODES: usize = 64;
/// The maximum number of bytes of white space around a short text.
const MAX_SPACE: usize = 1_024;

/// Builds a document tree from html5ever's callbacks.
pub(super) struct DomBuilder {
    nodes: RefCell<Vec<DomNode>>,
    deepest: Cell<usize>,
}

impl DomBuilder {
    pub(super) fn new() -> Self {
        let document = DomNode { parent: None, children: Vec::new(), data: NodeData::Other, depth: 0 };
        Self { nodes: RefCell::new(vec![document]), deepest: Cell::new(0) }
    }

    /// Returns the number of nodes. A few bytes of HTML can create many: open formatting elements are repeated in every
    /// paragraph.
    pub(super) fn size(&self) -> usize {
        self.nodes.borrow().len()
    }

    /// Returns the depth of the tree. The parser searches all open elements for each tag, so depth costs time.
    pub(super) fn depth(&self) -> usize {
        self.deepest.get()
    }

    fn add(&self, data: NodeData) -> NodeId {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(DomNode { parent: None, children: Vec::new(), data, depth: 0 });
        nodes.len() - 1
    }

    fn detach(&self, id: NodeId) {
        let mut nodes = self.nodes.borrow_mut();
        if let Some(parent) = nodes[id].parent.take() {
            // A moved node is usually near the end, because it was just inserted.
            let index = nodes[parent].children.iter().rposition(|&child| child == id);
            index.map(|index| nodes[parent].children.remove(index));
        }
    }

    /// Inserts a child before the one at `index`, or at the end.
    fn insert(&self, parent: NodeId, index: Option<usize>, child: NodeOrText<Handle>) {
        let id = match child {
            NodeOrText::AppendNode(node) => {
                self.detach(node.id);
                node.id
            }
            NodeOrText::AppendText(text) => {
                let mut nodes = self.nodes.borrow_mut();
                let index = index.unwrap_or(nodes[parent].children.len());
                let before = index.checked_sub(1).map(|before| nodes[parent].children[before]);
                if let Some(before) = before
                    && let NodeData::Text(existing) = &mut nodes[before].data
                {
                    existing.push_str(&text);
                    return;
                }
                drop(nodes);
                self.add(NodeData::Text(text.to_string()))
            }
        };
        let mut nodes = self.nodes.borrow_mut();
        let depth = nodes[parent].depth + 1;
        let index = index.unwrap_or(nodes[parent].children.len());
        nodes[parent].children.insert(index, id);
        nodes[id].parent = Some(parent);
        nodes[id].depth = depth;
        self.deepest.set(self.deepest.get().max(depth));
    }
}

/// A reference to a node, as required by html5ever.
#[derive(Clone)]
pub(super) struct Handle {
    id: NodeId,
    name: Option<Rc<QualName>>,
}

/// Returns `true` for attributes that are kept.
fn is_relevant(attribute: &Attribute) -> bool {
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

impl TreeSink for DomBuilder {
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
        let attributes = attributes.into_iter().filter(is_relevant).collect();
        Handle { id: self.add(NodeData::Element(Element { name: name.clone(), attributes })), name: Some(name) }
    }

    fn create_comment(&self, _: StrTendril) -> Handle {
        Handle { id: self.add(NodeData::Other), name: None }
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Handle {
        Handle { id: self.add(NodeData::Other), name: None }
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.insert(parent.id, None, child);
    }

    fn append_based_on_parent_node(&self, element: &Handle, previous: &Handle, child: NodeOrText<Handle>) {
        let has_parent = self.nodes.borrow()[element.id].parent.is_some();
        if has_parent { self.append_before_sibling(element, child) } else { self.append(previous, child) }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    /// Contents become children of the template itself, which is never rendered.
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
        let index = nodes[parent].children.iter().rposition(|&child| child == sibling.id);
        drop(nodes);
        self.insert(parent, index, new);
    }

    fn add_attrs_if_missing(&self, _: &Handle, _: Vec<Attribute>) {
        // Only `html` and `body` get attributes this way, and none of theirs are relevant.
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
