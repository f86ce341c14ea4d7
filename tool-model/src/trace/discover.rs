//! The state of a trace: what is known of a type so far, and what the next pass asks.

use std::any::type_name;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::de::{Deserialize, Error, Expected, Unexpected};
use serde_json::Value;

use super::deserializer::Tracer;
use super::known::peeled;
use super::samples::TEXTS;
use super::{TracedType, UnknownCause};

/// The most passes over one type. A type with a thousand fields needs some thousand.
const MOST_PASSES: usize = 20_000;

/// The deepest sample value. A type that requires a value of itself has none.
pub(super) const DEEPEST: usize = 24;

/// The most sample values of one pass. Types that contain each other several times multiply.
pub(super) const MOST_VALUES: usize = 1_000;

/// Returns the JSON form of a type, as its `Deserialize` shows it.
///
/// A type that panics or whose behaviour is inconsistent is [`Unknown`](super::TracedForm::Unknown) where it cannot be understood.
#[must_use]
pub fn trace<T: Deserialize<'static>>() -> TracedType {
    discover(type_name::<T>(), &|trace| drop(T::deserialize(Tracer::discover(trace, ROOT))))
}

fn discover(type_name: &'static str, pass: &dyn Fn(&mut TraceState)) -> TracedType {
    let mut trace = TraceState::new(type_name);
    for _ in 0..MOST_PASSES {
        if trace.is_done(ROOT) {
            break;
        }
        trace.begin_pass();
        if catch_unwind(AssertUnwindSafe(|| pass(&mut trace))).is_err() {
            trace.end_panicked();
        } else if !trace.progressed {
            trace.give_up(UnknownCause::NotReached);
        }
    }
    trace.finish()
}

/// The position of a node in [`TraceState::nodes`].
pub(super) type NodeId = usize;

/// The type of a visitor, and the address of the names of fields or variants.
pub(super) type BodyKey = (&'static str, usize);

/// The position of a body in [`TraceState::bodies`].
pub(super) type BodyId = usize;

pub(super) const ROOT: NodeId = 0;

/// The state of a trace.
pub(super) struct TraceState {
    pub(super) nodes: Vec<TraceNode>,
    pub(super) bodies: Vec<TraceBody>,
    /// The bodies by the type of their visitor and the address of their names: two local types may have one name.
    pub(super) by_visitor: BTreeMap<BodyKey, BodyId>,
    /// `true` if the current pass has found out something.
    pub(super) progressed: bool,
    /// The node that the current pass examines.
    pub(super) focus: NodeId,
    /// The leaf whose sample value was given last.
    pub(super) last_leaf: Option<NodeId>,
    /// The nesting of the current sample value.
    pub(super) depth: usize,
    /// The number of sample values that the current pass has given.
    pub(super) samples: usize,
    /// The innermost node whose type's code runs.
    pub(super) running: NodeId,
    /// The types that panicked. Their code does not run again, because each panic is printed.
    pub(super) panicked: BTreeSet<&'static str>,
}

/// A value inside the type.
pub(super) struct TraceNode {
    /// The node that contains it; the root contains itself.
    parent: NodeId,
    /// The name of its type, or an empty string if serde does not show it.
    pub(super) type_name: &'static str,
    pub(super) state: NodeState,
    /// The number of sample values that were rejected.
    pub(super) rejected: usize,
}

pub(super) enum NodeState {
    /// Not yet reached.
    Pending,
    Unknown(UnknownCause),
    Leaf(Value),
    /// An object whose fields serde buffers.
    Buffered,
    Option(NodeId),
    List(NodeId),
    Set(NodeId),
    Array(NodeId, usize),
    Tuple(Vec<NodeId>),
    Map(NodeId, NodeId),
    Tagged {
        tag: Option<&'static str>,
        content: Option<&'static str>,
        variants: TagVariants,
    },
    /// A body. Its owner discovers it; other nodes refer to it.
    Body {
        body: BodyId,
        is_owner: bool,
    },
}

/// The tags of an enum whose content serde buffers.
pub(super) enum TagVariants {
    Pending,
    Open,
    Known(&'static [&'static str]),
}

/// A struct or enum.
pub(super) struct TraceBody {
    pub(super) name: &'static str,
    pub(super) kind: BodyKind,
}

pub(super) enum BodyKind {
    Newtype(NodeId),
    Tuple(Vec<NodeId>),
    Struct(FieldsState),
    Enum(VariantsState),
}

/// The fields of a struct or of a variant.
#[derive(Default)]
pub(super) struct FieldsState {
    /// The names that serde accepts, aliases included.
    pub(super) names: &'static [&'static str],
    /// The number of names that were tried.
    pub(super) tried: usize,
    pub(super) fields: Vec<FieldState>,
    /// `None` until it was tried.
    pub(super) denies_unknown: Option<bool>,
    /// `true` once it is known which fields are required.
    pub(super) knows_required: bool,
}

pub(super) struct FieldState {
    /// The field's identifier, which its aliases share.
    pub(super) identifier: String,
    /// The names, one of which is the field's own.
    pub(super) names: Vec<&'static str>,
    /// `true` once the first name is the field's own.
    pub(super) is_named: bool,
    pub(super) node: NodeId,
    pub(super) required: bool,
}

/// The variants of an enum.
pub(super) struct VariantsState {
    pub(super) names: &'static [&'static str],
    pub(super) tried: usize,
    pub(super) variants: Vec<VariantState>,
}

pub(super) struct VariantState {
    pub(super) identifier: String,
    /// The names, aliases included.
    pub(super) names: Vec<&'static str>,
    pub(super) content: VariantContent,
}

/// The content of a variant.
pub(super) enum VariantContent {
    Pending,
    Unit,
    Newtype(NodeId),
    Tuple(Vec<NodeId>),
    Struct(FieldsState),
}

impl FieldsState {
    /// Starts with names. Whether unknown fields are an error is asked of derived types only, as schemars does.
    pub(super) fn new(names: &'static [&'static str], is_derived: bool) -> Self {
        let denies_unknown = if is_derived { None } else { Some(false) };
        Self { names, tried: 0, fields: Vec::new(), denies_unknown, knows_required: false }
    }

    /// Ends the search for required fields if no sample value of one was accepted: of the fields behind it, those that are
    /// not optional by their type are most likely required.
    pub(super) fn guess_required(&mut self, nodes: &[TraceNode]) {
        let first = self.fields.iter().rposition(|field| field.required).map_or(0, |last| last + 1);
        for field in self.fields.iter_mut().skip(first) {
            field.required = !matches!(nodes[field.node].state, NodeState::Option(_));
        }
        self.knows_required = true;
    }

    /// Ends the examination with what is known. Returns the nodes of the fields and the number of names that were not
    /// reached.
    fn end(&mut self, nodes: &[TraceNode]) -> (Vec<NodeId>, usize) {
        self.denies_unknown.get_or_insert(false);
        if !self.knows_required {
            self.guess_required(nodes);
        }
        (self.fields.iter().map(|field| field.node).collect(), self.names.len() - self.tried)
    }

    /// Adds the names that were not reached as fields of these nodes.
    fn add_unreached(&mut self, nodes: Vec<NodeId>) {
        for (name, node) in self.names[self.tried..].iter().zip(nodes) {
            let identifier = (*name).to_owned();
            self.fields.push(FieldState { identifier, names: vec![name], is_named: true, node, required: false });
        }
        self.tried = self.names.len();
    }
}

impl TraceState {
    fn new(type_name: &'static str) -> Self {
        let root = TraceNode { parent: ROOT, type_name, state: NodeState::Pending, rejected: 0 };
        Self {
            nodes: vec![root],
            bodies: Vec::new(),
            by_visitor: BTreeMap::new(),
            progressed: false,
            focus: ROOT,
            last_leaf: None,
            depth: 0,
            samples: 0,
            running: ROOT,
            panicked: BTreeSet::new(),
        }
    }

    fn begin_pass(&mut self) {
        self.progressed = false;
        self.focus = ROOT;
        self.last_leaf = None;
        self.depth = 0;
        self.samples = 0;
        self.running = ROOT;
    }

    pub(super) fn add_node(&mut self, type_name: &'static str) -> NodeId {
        self.nodes.push(TraceNode { parent: self.focus, type_name, state: NodeState::Pending, rejected: 0 });
        self.nodes.len() - 1
    }

    /// Returns `true` if a node is inside of another one of its type, without a struct or enum between them that could be
    /// referred to. Such a type has no end.
    pub(super) fn is_recursive(&self, node: NodeId) -> bool {
        let name = peeled(self.nodes[node].type_name);
        let (mut inner, mut depth) = (node, 0);
        while inner != ROOT && depth < DEEPEST {
            inner = self.nodes[inner].parent;
            depth += 1;
            if matches!(self.nodes[inner].state, NodeState::Body { .. }) {
                return false;
            }
            if !name.is_empty() && peeled(self.nodes[inner].type_name) == name {
                return true;
            }
        }
        depth == DEEPEST
    }

    /// Sets the state of a node, which is progress.
    pub(super) fn learn(&mut self, node: NodeId, state: NodeState) {
        self.nodes[node].state = state;
        self.progressed = true;
    }

    pub(super) fn is_done(&self, node: NodeId) -> bool {
        match &self.nodes[node].state {
            NodeState::Pending => false,
            NodeState::Unknown(_) | NodeState::Leaf(_) | NodeState::Buffered => true,
            NodeState::Option(inner) | NodeState::List(inner) | NodeState::Set(inner) => self.is_done(*inner),
            NodeState::Array(item, length) => *length == 0 || self.is_done(*item),
            NodeState::Tuple(items) => items.iter().all(|item| self.is_done(*item)),
            NodeState::Map(key, value) => self.is_done(*key) && self.is_done(*value),
            NodeState::Tagged { tag, variants, .. } => tag.is_some() && !matches!(variants, TagVariants::Pending),
            NodeState::Body { is_owner: false, .. } => true,
            NodeState::Body { body, .. } => match &self.bodies[*body].kind {
                BodyKind::Newtype(inner) => self.is_done(*inner),
                BodyKind::Tuple(items) => items.iter().all(|item| self.is_done(*item)),
                BodyKind::Struct(fields) => fields.knows_required,
                BodyKind::Enum(variants) => {
                    variants.tried == variants.names.len()
                        && variants.variants.iter().all(|variant| self.is_content_done(&variant.content))
                }
            },
        }
    }

    pub(super) fn is_content_done(&self, content: &VariantContent) -> bool {
        match content {
            VariantContent::Pending => false,
            VariantContent::Unit => true,
            VariantContent::Newtype(inner) => self.is_done(*inner),
            VariantContent::Tuple(items) => items.iter().all(|item| self.is_done(*item)),
            VariantContent::Struct(fields) => fields.knows_required,
        }
    }

    /// Returns the variant with the simplest sample value: one without data, or else one without other structs and
    /// enums, which may contain this one.
    pub(super) fn simplest_variant(&self, all: &VariantsState) -> Option<usize> {
        let is_leaf = |node: &NodeId| !matches!(self.nodes[*node].state, NodeState::Body { .. } | NodeState::Pending);
        let rank = |content: &VariantContent| match content {
            VariantContent::Unit => 0,
            VariantContent::Newtype(inner) if is_leaf(inner) => 1,
            VariantContent::Tuple(items) if items.iter().all(is_leaf) => 1,
            content if self.is_content_done(content) => 2,
            _ => 3,
        };
        let ranked = all.variants.iter().map(|variant| rank(&variant.content)).enumerate();
        ranked.filter(|(_, rank)| *rank < 3).min_by_key(|(_, rank)| *rank).map(|(index, _)| index)
    }

    /// Tries another sample value of the leaf that was given last. Returns `false` if there is none.
    pub(super) fn try_other_value(&mut self) -> bool {
        let Some(node) =
            self.last_leaf.map(|leaf| &mut self.nodes[leaf]).filter(|leaf| leaf.rejected < TEXTS.len() + 4)
        else {
            return false;
        };
        node.rejected += 1;
        self.progressed = true;
        true
    }

    /// Ends the examination of the node whose type has panicked.
    fn end_panicked(&mut self) {
        let node = &mut self.nodes[self.running];
        if !node.type_name.is_empty() {
            self.panicked.insert(node.type_name);
        }
        if matches!(node.state, NodeState::Pending) {
            node.state = NodeState::Unknown(UnknownCause::Panicked);
            return;
        }
        // The panic is not the fault of the last sample value.
        self.last_leaf = None;
        self.give_up(UnknownCause::Panicked);
    }

    /// Ends the examination of the current node, which a pass did not further.
    fn give_up(&mut self, cause: UnknownCause) {
        if self.last_leaf.is_some_and(|leaf| leaf != self.focus) && self.try_other_value() {
            return;
        }
        let focus = self.focus;
        match &mut self.nodes[focus].state {
            NodeState::Body { body, .. } => {
                let body = *body;
                self.end_body(body);
            }
            NodeState::Tuple(items) => {
                let items = items.clone();
                self.end_items(&items);
            }
            NodeState::Map(_, value) => {
                let value = *value;
                self.end_items(&[value]);
            }
            _ => self.nodes[focus].state = NodeState::Unknown(cause),
        }
    }

    /// Ends the examination of items that were not reached.
    fn end_items(&mut self, items: &[NodeId]) {
        for item in items {
            if !self.is_done(*item) {
                self.nodes[*item].state = NodeState::Unknown(UnknownCause::NotReached);
            }
        }
    }

    /// Ends the examination of a struct, or of the variant of an enum that a pass did not further, with what is known.
    fn end_body(&mut self, body: BodyId) {
        let undone = |trace: &Self, all: &VariantsState| {
            all.variants.iter().position(|variant| !trace.is_content_done(&variant.content))
        };
        let index = match &self.bodies[body].kind {
            BodyKind::Enum(all) => undone(self, all),
            _ => None,
        };
        let mut unreached = 0;
        let mut pending = Vec::new();
        match &mut self.bodies[body].kind {
            BodyKind::Newtype(inner) => pending.push(*inner),
            BodyKind::Tuple(items) => pending.extend(items.iter().copied()),
            BodyKind::Struct(fields) => (pending, unreached) = fields.end(&self.nodes),
            BodyKind::Enum(all) => match index {
                Some(index) => match &mut all.variants[index].content {
                    VariantContent::Pending | VariantContent::Unit => drop(all.variants.remove(index)),
                    VariantContent::Newtype(inner) => pending.push(*inner),
                    VariantContent::Tuple(items) => pending.extend(items.iter().copied()),
                    VariantContent::Struct(fields) => (pending, unreached) = fields.end(&self.nodes),
                },
                // The type refuses the name.
                None => all.tried += 1,
            },
        }
        self.end_items(&pending);
        let added: Vec<NodeId> = (0..unreached).map(|_| self.add_node("")).collect();
        self.end_items(&added);
        if let Some(fields) = self.fields_of(body, index) {
            fields.add_unreached(added);
        }
    }

    fn fields_of(&mut self, body: BodyId, index: Option<usize>) -> Option<&mut FieldsState> {
        match (&mut self.bodies[body].kind, index) {
            (BodyKind::Struct(fields), _) => Some(fields),
            (BodyKind::Enum(all), Some(index)) => match &mut all.variants.get_mut(index)?.content {
                VariantContent::Struct(fields) => Some(fields),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The end of a pass. The errors of derived code tell what it expects.
#[derive(Debug)]
pub(super) enum TraceEnd {
    /// The pass has found out what it was for.
    Found,
    MissingField(&'static str),
    DuplicateField(&'static str),
    UnknownField,
    UnknownVariant(&'static [&'static str]),
    /// A value was rejected.
    Rejected,
}

impl fmt::Display for TraceEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no value")
    }
}

impl std::error::Error for TraceEnd {}

impl Error for TraceEnd {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Rejected
    }

    fn invalid_type(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self::Rejected
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::UnknownVariant(expected)
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self::UnknownField
    }

    fn missing_field(field: &'static str) -> Self {
        Self::MissingField(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::DuplicateField(field)
    }
}
