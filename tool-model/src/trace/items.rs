//! Items of sequences, pairs of maps and variants of enums.

use std::any::type_name;
use std::mem::discriminant;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor};

use super::UnknownCause;
use super::deserializer::{Tracer, is_derived};
use super::discover::{
    BodyId, BodyKind, FieldsState, NodeId, NodeState, TraceEnd, TraceState, VariantContent, VariantState, VariantsState,
};
use super::fields::{FieldsPlace, fields};

/// Returns the name of the type that a seed deserializes: `PhantomData<T>` deserializes `T`.
fn seed_type<T>() -> &'static str {
    let name = type_name::<T>();
    name.strip_prefix("core::marker::PhantomData<").and_then(|name| name.strip_suffix('>')).unwrap_or_default()
}

/// Deserializes a node with a seed, whose type is the node's.
pub(super) fn seed_node<'de, T: DeserializeSeed<'de>>(
    trace: &mut TraceState,
    node: NodeId,
    discover: bool,
    seed: T,
) -> Result<T::Value, TraceEnd> {
    if trace.nodes[node].type_name.is_empty() {
        trace.nodes[node].type_name = seed_type::<T>();
    }
    let discover = discover && !trace.is_done(node);
    if trace.panicked.contains(trace.nodes[node].type_name) {
        if discover && matches!(trace.nodes[node].state, NodeState::Pending) {
            trace.learn(node, NodeState::Unknown(UnknownCause::Panicked));
            return Err(TraceEnd::Found);
        } else if !discover {
            return Err(TraceEnd::Rejected);
        }
    }
    let outer = std::mem::replace(&mut trace.running, node);
    let value = seed.deserialize(Tracer::new(trace, node, discover));
    trace.running = outer;
    // What a sample value lacks is no property of the type that contains it.
    if discover { value } else { value.map_err(|_| TraceEnd::Rejected) }
}

pub(super) fn key<'de, K: DeserializeSeed<'de>>(seed: K, name: &'static str) -> Result<K::Value, TraceEnd> {
    let name: StrDeserializer<'_, TraceEnd> = name.into_deserializer();
    seed.deserialize(name)
}

/// Returns what identifies a field or variant: derived code has the same identifier for a name and its aliases.
pub(super) fn identifier<T>(value: &T, name: &str) -> String {
    if type_name::<T>().contains("__Field") { format!("{:?}", discriminant(value)) } else { name.to_owned() }
}

/// The items of a sequence, up to the one that is examined.
pub(super) struct ItemsAccess<'t> {
    pub(super) trace: &'t mut TraceState,
    pub(super) items: Vec<NodeId>,
    pub(super) next: usize,
    pub(super) discover: bool,
}

impl<'de> SeqAccess<'de> for ItemsAccess<'_> {
    type Error = TraceEnd;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, TraceEnd> {
        let Some(node) = self.items.get(self.next).copied() else { return Ok(None) };
        self.next += 1;
        seed_node(self.trace, node, self.discover, seed).map(Some)
    }
}

/// One key and one value of a map, or none.
pub(super) struct PairAccess<'t> {
    pub(super) trace: &'t mut TraceState,
    pub(super) key: NodeId,
    pub(super) value: NodeId,
    pub(super) is_empty: bool,
}

impl<'de> MapAccess<'de> for PairAccess<'_> {
    type Error = TraceEnd;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, TraceEnd> {
        if std::mem::replace(&mut self.is_empty, true) {
            return Ok(None);
        }
        seed_node(self.trace, self.key, true, seed).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, TraceEnd> {
        seed_node(self.trace, self.value, true, seed)
    }
}

/// A variant of an enum, examined or as a sample value.
pub(super) struct VariantTracer<'t> {
    pub(super) trace: &'t mut TraceState,
    pub(super) body: BodyId,
    /// `None` if the name was not tried yet.
    pub(super) index: Option<usize>,
    pub(super) name: &'static str,
    pub(super) discover: bool,
}

impl VariantTracer<'_> {
    fn variants(&mut self) -> Option<&mut VariantsState> {
        match &mut self.trace.bodies[self.body].kind {
            BodyKind::Enum(variants) => Some(variants),
            _ => None,
        }
    }

    /// Returns the content, after it was set if it was not known.
    fn content(
        &mut self,
        new: impl FnOnce(&mut TraceState) -> VariantContent,
    ) -> Result<&mut VariantContent, TraceEnd> {
        let index = self.index.ok_or(TraceEnd::Rejected)?;
        let is_pending =
            |variants: &mut VariantsState| matches!(variants.variants[index].content, VariantContent::Pending);
        if self.variants().is_some_and(is_pending) {
            let content = new(self.trace);
            self.trace.progressed = true;
            if let Some(variants) = self.variants() {
                variants.variants[index].content = content;
            }
        }
        self.variants().map(|variants| &mut variants.variants[index].content).ok_or(TraceEnd::Rejected)
    }
}

impl<'de> EnumAccess<'de> for VariantTracer<'_> {
    type Error = TraceEnd;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(mut self, seed: V) -> Result<(V::Value, Self), TraceEnd> {
        let name = self.name;
        let value = key(seed, name)?;
        if self.index.is_none() {
            let identifier = identifier(&value, name);
            self.trace.progressed = true;
            let variants = self.variants().ok_or(TraceEnd::Rejected)?;
            variants.tried += 1;
            if let Some(known) = variants.variants.iter_mut().find(|variant| variant.identifier == identifier) {
                known.names.push(name);
                return Err(TraceEnd::Found);
            }
            variants.variants.push(VariantState { identifier, names: vec![name], content: VariantContent::Pending });
            self.index = Some(variants.variants.len() - 1);
        }
        Ok((value, self))
    }
}

impl<'de> VariantAccess<'de> for VariantTracer<'_> {
    type Error = TraceEnd;

    fn unit_variant(mut self) -> Result<(), TraceEnd> {
        self.content(|_| VariantContent::Unit)?;
        if self.discover { Err(TraceEnd::Found) } else { Ok(()) }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(mut self, seed: T) -> Result<T::Value, TraceEnd> {
        match *self.content(|trace| VariantContent::Newtype(trace.add_node("")))? {
            VariantContent::Newtype(node) => seed_node(self.trace, node, self.discover, seed),
            _ => Err(TraceEnd::Rejected),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(mut self, len: usize, visitor: V) -> Result<V::Value, TraceEnd> {
        let new = |trace: &mut TraceState| VariantContent::Tuple((0..len).map(|_| trace.add_node("")).collect());
        let VariantContent::Tuple(items) = self.content(new)? else { return Err(TraceEnd::Rejected) };
        let items = items.clone();
        visitor.visit_seq(ItemsAccess { trace: self.trace, items, next: 0, discover: self.discover })
    }

    fn struct_variant<V: Visitor<'de>>(
        mut self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TraceEnd> {
        self.content(|_| VariantContent::Struct(FieldsState::new(names, is_derived::<V>())))?;
        let place = FieldsPlace::Variant { body: self.body, index: self.index.ok_or(TraceEnd::Rejected)? };
        fields(self.trace, place, self.discover, visitor)
    }
}
