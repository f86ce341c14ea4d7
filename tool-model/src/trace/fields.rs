//! Named fields: their forms, their own names, and which of them are required.

use std::any::type_name;

use serde::de::{DeserializeSeed, MapAccess, Visitor};

use super::UnknownCause;
use super::deserializer::{UNEXPECTED, is_of_serde};
use super::discover::{
    BodyId, BodyKind, FieldState, FieldsState, NodeId, NodeState, TagVariants, TraceEnd, TraceNode, TraceState,
    VariantContent, VariantsState,
};
use super::items::{identifier, key, seed_node};

/// The owner of named fields.
#[derive(Clone, Copy)]
pub(super) enum FieldsPlace {
    Struct { body: BodyId, node: NodeId },
    Variant { body: BodyId, index: usize },
}

impl FieldsPlace {
    fn get(self, trace: &mut TraceState) -> Option<&mut FieldsState> {
        match self {
            Self::Struct { body, .. } => match &mut trace.bodies[body].kind {
                BodyKind::Struct(fields) => Some(fields),
                _ => None,
            },
            Self::Variant { body, index } => match &mut trace.bodies[body].kind {
                BodyKind::Enum(VariantsState { variants, .. }) => match &mut variants.get_mut(index)?.content {
                    VariantContent::Struct(fields) => Some(fields),
                    _ => None,
                },
                _ => None,
            },
        }
    }
}

/// The question of a pass about named fields.
#[derive(Clone, Copy, PartialEq)]
enum FieldQuestion {
    /// The form of a field that was reached before.
    Form(usize),
    /// The form of the field with the next name, or that the name is an alias.
    NextName,
    /// The own name of a field with aliases.
    OwnName(usize),
    /// The handling of unknown fields.
    DeniesUnknown,
    /// The next required field.
    Required,
    /// None: a sample value is given.
    Nothing,
}

fn question(trace: &TraceState, fields: &FieldsState) -> FieldQuestion {
    if let Some(index) = fields.fields.iter().position(|field| !trace.is_done(field.node)) {
        return FieldQuestion::Form(index);
    }
    if fields.tried < fields.names.len() {
        return FieldQuestion::NextName;
    }
    if let Some(index) = fields.fields.iter().position(|field| field.names.len() > 1 && !field.is_named) {
        return FieldQuestion::OwnName(index);
    }
    if fields.denies_unknown.is_none() { FieldQuestion::DeniesUnknown } else { FieldQuestion::Required }
}

/// Returns `true` if a missing field of this node's type would run the code that panicked. The function of
/// `deserialize_with` runs for a field that is there only.
fn would_panic_if_missing(node: &TraceNode) -> bool {
    matches!(node.state, NodeState::Unknown(UnknownCause::Panicked)) && !node.type_name.contains("__DeserializeWith")
}

/// Asks the next question about named fields, or gives a sample value of them.
pub(super) fn fields<'de, V: Visitor<'de>>(
    trace: &mut TraceState,
    place: FieldsPlace,
    discover: bool,
    visitor: V,
) -> Result<V::Value, TraceEnd> {
    let Some(known) = place.get(trace).map(std::mem::take) else { return Err(TraceEnd::Rejected) };
    let asked = if discover { question(trace, &known) } else { FieldQuestion::Nothing };
    // Of fields that may turn out to be required, all are given a value.
    let is_given = |field: &&FieldState| match asked {
        FieldQuestion::Nothing if !known.knows_required => {
            trace.is_done(field.node) && !matches!(trace.nodes[field.node].state, NodeState::Option(_))
        }
        _ => field.required || would_panic_if_missing(&trace.nodes[field.node]),
    };
    let with_value = |field: &FieldState| (field.names[0], KeyUse::Value(field.node));
    let keys = match asked {
        FieldQuestion::Form(index) => vec![(known.fields[index].names[0], KeyUse::Form(known.fields[index].node))],
        FieldQuestion::NextName => vec![(known.names[known.tried], KeyUse::New)],
        FieldQuestion::OwnName(index) => {
            let field = &known.fields[index];
            vec![with_value(field), (field.names[1], KeyUse::Value(field.node))]
        }
        FieldQuestion::DeniesUnknown => vec![(UNEXPECTED, KeyUse::Unknown)],
        FieldQuestion::Required | FieldQuestion::Nothing => {
            known.fields.iter().filter(is_given).map(with_value).collect()
        }
    };
    if let Some(fields) = place.get(trace) {
        *fields = known;
    }
    let result = visitor.visit_map(FieldsAccess { trace, place, keys: keys.into_iter(), current: None });
    if !matches!(asked, FieldQuestion::OwnName(_) | FieldQuestion::Required) {
        return result;
    }
    answer(trace, place, asked, result.err());
    Err(TraceEnd::Found)
}

/// Learns from the result of a pass about the names or the presence of fields.
fn answer(trace: &mut TraceState, place: FieldsPlace, asked: FieldQuestion, end: Option<TraceEnd>) {
    let rejected = matches!(end, Some(TraceEnd::Rejected | TraceEnd::UnknownVariant(_) | TraceEnd::UnknownField));
    if rejected && trace.try_other_value() {
        return;
    }
    let Some(known) = place.get(trace) else { return };
    let mut fields = std::mem::take(known);
    match (asked, end) {
        (FieldQuestion::OwnName(index), end) => {
            if let Some(TraceEnd::DuplicateField(name)) = end {
                fields.fields[index].put_first(name);
            }
            fields.fields[index].is_named = true;
        }
        (_, Some(TraceEnd::MissingField(name))) => {
            match fields.fields.iter_mut().find(|field| field.names.contains(&name)) {
                Some(field) if !field.required => {
                    field.put_first(name);
                    field.required = true;
                }
                _ => fields.guess_required(&trace.nodes),
            }
        }
        (_, None) => fields.knows_required = true,
        (_, Some(_)) => fields.guess_required(&trace.nodes),
    }
    trace.progressed = true;
    if let Some(known) = place.get(trace) {
        *known = fields;
    }
}

impl FieldState {
    /// Makes a name the first of the field's names.
    fn put_first(&mut self, name: &'static str) {
        if let Some(index) = self.names.iter().position(|known| *known == name) {
            self.names.swap(0, index);
        }
    }
}

/// The purpose of a key in a pass.
#[derive(Clone, Copy)]
enum KeyUse {
    New,
    Form(NodeId),
    Value(NodeId),
    Unknown,
}

struct FieldsAccess<'t> {
    trace: &'t mut TraceState,
    place: FieldsPlace,
    keys: std::vec::IntoIter<(&'static str, KeyUse)>,
    current: Option<(NodeId, bool)>,
}

impl FieldsAccess<'_> {
    /// Learns that a name is an alias, or the field that it names.
    fn new_name(&mut self, name: &'static str, identifier: String) -> Result<NodeId, TraceEnd> {
        let node = self.trace.add_node("");
        self.trace.progressed = true;
        let Some(fields) = self.place.get(self.trace) else { return Err(TraceEnd::Rejected) };
        fields.tried += 1;
        if let Some(field) = fields.fields.iter_mut().find(|field| field.identifier == identifier) {
            field.names.push(name);
            return Err(TraceEnd::Found);
        }
        fields.fields.push(FieldState { identifier, names: vec![name], is_named: false, node, required: false });
        Ok(node)
    }
}

impl<'de> MapAccess<'de> for FieldsAccess<'_> {
    type Error = TraceEnd;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, TraceEnd> {
        if let FieldsPlace::Struct { body, node } = self.place
            && ["TagOrContentFieldVisitor", "TagContentOtherFieldVisitor"]
                .iter()
                .any(|name| is_of_serde(type_name::<K>(), name))
            && let BodyKind::Struct(FieldsState { names: [tag, content], .. }) = self.trace.bodies[body].kind
        {
            // The keys of an adjacently tagged enum.
            self.trace.by_visitor.retain(|_, known| *known != body);
            let state = NodeState::Tagged { tag: Some(tag), content: Some(content), variants: TagVariants::Pending };
            self.trace.learn(node, state);
            return Err(TraceEnd::Found);
        }
        let Some((name, purpose)) = self.keys.next() else { return Ok(None) };
        let value = key(seed, name);
        self.current = match (purpose, &value) {
            (KeyUse::Unknown, value) => {
                self.trace.progressed = true;
                if let Some(fields) = self.place.get(self.trace) {
                    fields.denies_unknown = Some(value.is_err());
                }
                return Err(TraceEnd::Found);
            }
            (KeyUse::New, Ok(value)) => {
                let identifier = identifier(value, name);
                Some((self.new_name(name, identifier)?, true))
            }
            (KeyUse::Form(node), _) => Some((node, true)),
            (KeyUse::Value(node), _) => Some((node, false)),
            (KeyUse::New, Err(_)) => None,
        };
        value.map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, TraceEnd> {
        let Some((node, discover)) = self.current.take() else { return Err(TraceEnd::Rejected) };
        seed_node(self.trace, node, discover, seed)
    }
}
