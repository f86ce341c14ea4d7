//! The deserializer of a trace. In one pass it asks a type about one node; other values are sample values.

use std::any::type_name;

use serde::Deserializer;
use serde::de::Visitor;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde_json::{Value, json};

use super::UnknownCause;
use super::discover::{
    BodyId, BodyKind, DEEPEST, FieldsState, MOST_VALUES, NodeId, NodeState, TagVariants, TraceBody, TraceEnd,
    TraceState, VariantsState,
};
use super::fields::{FieldsPlace, fields};
use super::items::{ItemsAccess, PairAccess, VariantTracer};
use super::known::{peeled, schema_of_type, schema_of_visitor};
use super::samples::TEXTS;

/// A key or a tag that no type expects.
pub(super) const UNEXPECTED: &str = "\u{1}unexpected";

/// Deserializes one node: examines it, or gives a sample value of it.
pub(super) struct Tracer<'t> {
    trace: &'t mut TraceState,
    node: NodeId,
    discover: bool,
}

impl<'t> Tracer<'t> {
    pub(super) fn discover(trace: &'t mut TraceState, node: NodeId) -> Self {
        trace.focus = node;
        Self { trace, node, discover: true }
    }

    pub(super) fn new(trace: &'t mut TraceState, node: NodeId, discover: bool) -> Self {
        if discover { Self::discover(trace, node) } else { Self { trace, node, discover } }
    }

    fn state(&self) -> &NodeState {
        &self.trace.nodes[self.node].state
    }

    fn is_pending(&self) -> bool {
        self.discover && matches!(self.state(), NodeState::Pending)
    }

    /// Learns the form of a library type with a known schema. Those are leaves: the visitor of a collection may name its
    /// items.
    fn learn_known(&mut self, visitor: &str) -> Result<(), TraceEnd> {
        if !self.is_pending() {
            return Ok(());
        }
        let name = self.trace.nodes[self.node].type_name;
        match schema_of_type(name).or_else(|| schema_of_visitor(visitor)) {
            Some(schema) => {
                self.trace.learn(self.node, NodeState::Leaf(schema));
                Err(TraceEnd::Found)
            }
            None => Ok(()),
        }
    }

    /// Learns that the form of a type that contains itself is unknown.
    fn end_recursion(&mut self) -> Result<(), TraceEnd> {
        if self.is_pending() && self.trace.is_recursive(self.node) {
            self.trace.learn(self.node, NodeState::Unknown(UnknownCause::Recursive));
            return Err(TraceEnd::Found);
        }
        Ok(())
    }

    fn leaf<'de, V: Visitor<'de>>(mut self, visitor: V, schema: Value) -> Result<V::Value, TraceEnd> {
        self.learn_known(type_name::<V>())?;
        if self.is_pending() {
            self.trace.learn(self.node, NodeState::Leaf(schema));
            return Err(TraceEnd::Found);
        }
        self.sample(visitor)
    }

    /// Gives a sample value of a leaf, another one each time it was rejected.
    fn sample<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceEnd> {
        if self.discover {
            return Err(TraceEnd::Rejected);
        }
        self.trace.last_leaf = Some(self.node);
        let node = &self.trace.nodes[self.node];
        let rejected = node.rejected;
        if let NodeState::Leaf(schema) = &node.state
            && let Some(value) = schema["enum"].get(rejected).and_then(Value::as_str)
        {
            return visitor.visit_str(value);
        }
        let kind = match &node.state {
            NodeState::Leaf(schema) => match &schema["type"] {
                Value::Array(types) => types.first().and_then(Value::as_str),
                name => name.as_str(),
            },
            NodeState::Buffered => Some("object"),
            _ => None,
        };
        let text = |visitor: V, index: usize| match TEXTS.get(index) {
            Some(text) => visitor.visit_str(text),
            None => Err(TraceEnd::Rejected),
        };
        let number = |index: usize| [1, 0, 2, 3].get(index).copied().ok_or(TraceEnd::Rejected);
        match kind {
            Some("string") => text(visitor, rejected),
            Some("integer" | "number") => visitor.visit_u8(number(rejected)?),
            Some("boolean") => visitor.visit_bool(true),
            Some("null") => visitor.visit_unit(),
            Some("array") => visitor.visit_seq(SeqDeserializer::new([0_i64, 0].into_iter())),
            Some("object") => visitor.visit_map(MapDeserializer::new(std::iter::empty::<(&str, &str)>())),
            _ if rejected < TEXTS.len() => text(visitor, rejected),
            _ => visitor.visit_u8(number(rejected - TEXTS.len())?),
        }
    }

    /// Returns the body of a struct or enum: the known one of this visitor, or a new one with this node as its owner.
    fn body<'de, V: Visitor<'de>>(
        &mut self,
        name: &'static str,
        names: usize,
        kind: impl FnOnce(&mut TraceState) -> BodyKind,
    ) -> Result<BodyId, TraceEnd> {
        if self.is_pending() {
            let key = (type_name::<V>(), names);
            if let Some(body) = self.trace.by_visitor.get(&key).copied() {
                self.trace.learn(self.node, NodeState::Body { body, is_owner: false });
                return Err(TraceEnd::Found);
            }
            let kind = kind(self.trace);
            let body = self.trace.bodies.len();
            self.trace.bodies.push(TraceBody { name, kind });
            self.trace.by_visitor.insert(key, body);
            self.trace.learn(self.node, NodeState::Body { body, is_owner: true });
        }
        match self.state() {
            NodeState::Body { body, .. } => Ok(*body),
            _ => Err(TraceEnd::Rejected),
        }
    }

    /// Learns the tag of an enum whose content serde buffers, then its variants.
    fn tagged<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceEnd> {
        if !self.discover {
            self.trace.last_leaf = None;
            return Err(TraceEnd::Rejected);
        }
        let NodeState::Tagged { tag, .. } = self.state() else { return Err(TraceEnd::Rejected) };
        let Some(known_tag) = *tag else {
            let end = visitor.visit_map(MapDeserializer::<_, TraceEnd>::new(std::iter::empty::<(&str, &str)>())).err();
            if let (Some(TraceEnd::MissingField(name)), NodeState::Tagged { tag, .. }) =
                (end, &mut self.trace.nodes[self.node].state)
            {
                *tag = Some(name);
                self.trace.progressed = true;
            }
            return Err(TraceEnd::Found);
        };
        let end = visitor.visit_map(MapDeserializer::<_, TraceEnd>::new([(known_tag, UNEXPECTED)].into_iter())).err();
        if let NodeState::Tagged { variants, .. } = &mut self.trace.nodes[self.node].state {
            *variants = match end {
                Some(TraceEnd::UnknownVariant(names)) => TagVariants::Known(names),
                _ => TagVariants::Open,
            };
            self.trace.progressed = true;
        }
        Err(TraceEnd::Found)
    }

    fn items<'de, V: Visitor<'de>>(self, visitor: V, items: Vec<NodeId>) -> Result<V::Value, TraceEnd> {
        let Self { trace, discover, .. } = self;
        nested(trace, discover, |trace| visitor.visit_seq(ItemsAccess { trace, items, next: 0, discover }))
    }
}

/// Limits the nesting of sample values.
fn nested<T>(
    trace: &mut TraceState,
    discover: bool,
    run: impl FnOnce(&mut TraceState) -> Result<T, TraceEnd>,
) -> Result<T, TraceEnd> {
    if discover {
        return run(trace);
    }
    trace.samples += 1;
    if trace.depth >= DEEPEST || trace.samples > MOST_VALUES {
        trace.last_leaf = None;
        return Err(TraceEnd::Rejected);
    }
    trace.depth += 1;
    let value = run(trace);
    trace.depth -= 1;
    value
}

/// Returns `true` if a type of serde itself has this name.
pub(super) fn is_of_serde(full_name: &str, name: &str) -> bool {
    let is_serde = full_name.starts_with("serde::") || full_name.starts_with("serde_core::");
    is_serde
        && full_name
            .split('<')
            .next()
            .is_some_and(|path| path.rsplit("::").next().is_some_and(|last| name.trim_end_matches('<') == last))
}

/// Returns `true` for the visitors of sets of the standard library and of `indexmap`.
fn is_set(visitor: &str) -> bool {
    [" for std::collections::hash::set::HashSet<", " for alloc::collections::btree::set::BTreeSet<"]
        .iter()
        .any(|set| visitor.split("::deserialize::").next().is_some_and(|of_impl| of_impl.contains(set)))
        || visitor.starts_with("indexmap::serde::IndexSetVisitor<")
}

/// Returns `true` if serde's derive generated a visitor.
pub(super) fn is_derived<V>() -> bool {
    type_name::<V>().contains("__Visitor")
}

macro_rules! leaves {
    ($($method:ident $schema:tt)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceEnd> {
            self.leaf(visitor, json!($schema))
        }
    )*};
}

impl<'de> Deserializer<'de> for Tracer<'_> {
    type Error = TraceEnd;

    leaves! {
        deserialize_bool {"type": "boolean"}
        deserialize_i8 {"type": "integer", "format": "int8", "minimum": -128, "maximum": 127}
        deserialize_i16 {"type": "integer", "format": "int16", "minimum": -32768, "maximum": 32767}
        deserialize_i32 {"type": "integer", "format": "int32"}
        deserialize_i64 {"type": "integer", "format": "int64"}
        deserialize_i128 {"type": "integer", "format": "int128"}
        deserialize_u8 {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255}
        deserialize_u16 {"type": "integer", "format": "uint16", "minimum": 0, "maximum": 65535}
        deserialize_u32 {"type": "integer", "format": "uint32", "minimum": 0}
        deserialize_u64 {"type": "integer", "format": "uint64", "minimum": 0}
        deserialize_u128 {"type": "integer", "format": "uint128", "minimum": 0}
        deserialize_f32 {"type": "number", "format": "float"}
        deserialize_f64 {"type": "number", "format": "double"}
        deserialize_char {"type": "string", "minLength": 1, "maxLength": 1}
        deserialize_str {"type": "string"}
        deserialize_string {"type": "string"}
        deserialize_unit {"type": "null"}
    }

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, TraceEnd> {
        self.learn_known(type_name::<V>())?;
        if self.is_pending() {
            if !is_of_serde(type_name::<V>(), "TaggedContentVisitor<") {
                self.trace.learn(self.node, NodeState::Unknown(UnknownCause::AnyValue));
                return Err(TraceEnd::Found);
            }
            let state = NodeState::Tagged { tag: None, content: None, variants: TagVariants::Pending };
            self.trace.learn(self.node, state);
        }
        if matches!(self.state(), NodeState::Tagged { .. }) { self.tagged(visitor) } else { self.sample(visitor) }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceEnd> {
        self.deserialize_any(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceEnd> {
        self.deserialize_any(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceEnd> {
        self.deserialize_any(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceEnd> {
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, TraceEnd> {
        self.end_recursion()?;
        if self.is_pending() {
            let name = peeled(self.trace.nodes[self.node].type_name);
            let inner = name.strip_prefix("core::option::Option<").and_then(|name| name.strip_suffix('>'));
            let inner = self.trace.add_node(inner.unwrap_or_default());
            self.trace.learn(self.node, NodeState::Option(inner));
        }
        match *self.state() {
            NodeState::Option(inner) if self.discover => visitor.visit_some(Tracer::discover(self.trace, inner)),
            NodeState::Option(_) => visitor.visit_none(),
            _ => Err(TraceEnd::Rejected),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, TraceEnd> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, TraceEnd> {
        // Names such as `$serde_json::private::RawValue` are signals between a library and its deserializer.
        if name.starts_with('$') {
            return self.deserialize_any(visitor);
        }
        let body = self.body::<V>(name, 0, |trace| BodyKind::Newtype(trace.add_node("")))?;
        let BodyKind::Newtype(inner) = self.trace.bodies[body].kind else { return Err(TraceEnd::Rejected) };
        if is_derived::<V>() {
            // Other than `visit_newtype_struct`, this shows the name of the field's type.
            return self.items(visitor, vec![inner]);
        }
        let discover = self.discover;
        nested(self.trace, discover, |trace| visitor.visit_newtype_struct(Tracer::new(trace, inner, discover)))
    }

    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, TraceEnd> {
        self.end_recursion()?;
        if self.is_pending() {
            let item = self.trace.add_node("");
            let is_set = is_set(type_name::<V>());
            self.trace.learn(self.node, if is_set { NodeState::Set(item) } else { NodeState::List(item) });
        }
        match *self.state() {
            NodeState::List(item) | NodeState::Set(item) if self.discover => self.items(visitor, vec![item]),
            NodeState::List(_) | NodeState::Set(_) => self.items(visitor, Vec::new()),
            _ => Err(TraceEnd::Rejected),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(mut self, len: usize, visitor: V) -> Result<V::Value, TraceEnd> {
        self.end_recursion()?;
        if self.is_pending() {
            let state = if is_of_serde(type_name::<V>(), "ArrayVisitor<") {
                NodeState::Array(self.trace.add_node(""), len)
            } else {
                NodeState::Tuple((0..len).map(|_| self.trace.add_node("")).collect())
            };
            self.trace.learn(self.node, state);
        }
        match self.state() {
            NodeState::Array(item, len) => {
                let items = vec![*item; *len];
                self.items(visitor, items)
            }
            NodeState::Tuple(items) => {
                let items = items.clone();
                self.items(visitor, items)
            }
            _ => Err(TraceEnd::Rejected),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, TraceEnd> {
        let body = self.body::<V>(name, 0, |trace| BodyKind::Tuple((0..len).map(|_| trace.add_node("")).collect()))?;
        match &self.trace.bodies[body].kind {
            BodyKind::Tuple(items) => {
                let items = items.clone();
                self.items(visitor, items)
            }
            _ => Err(TraceEnd::Rejected),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, TraceEnd> {
        self.end_recursion()?;
        if self.is_pending() {
            // A derived visitor of a map belongs to a struct with flattened fields, which serde buffers.
            let state = if is_derived::<V>() {
                NodeState::Buffered
            } else {
                NodeState::Map(self.trace.add_node(""), self.trace.add_node(""))
            };
            self.trace.learn(self.node, state);
            if is_derived::<V>() {
                return Err(TraceEnd::Found);
            }
        }
        let discover = self.discover;
        match *self.state() {
            NodeState::Map(key, value) => {
                visitor.visit_map(PairAccess { trace: self.trace, key, value, is_empty: !discover })
            }
            _ => self.sample(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TraceEnd> {
        if matches!(self.state(), NodeState::Tagged { .. }) {
            return self.tagged(visitor);
        }
        let body = self
            .body::<V>(name, names.as_ptr().addr(), |_| BodyKind::Struct(FieldsState::new(names, is_derived::<V>())))?;
        let Self { trace, node, discover } = self;
        nested(trace, discover, |trace| fields(trace, FieldsPlace::Struct { body, node }, discover, visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TraceEnd> {
        let new = |_: &mut TraceState| BodyKind::Enum(VariantsState { names, tried: 0, variants: Vec::new() });
        let body = self.body::<V>(name, names.as_ptr().addr(), new)?;
        let Self { trace, discover, .. } = self;
        let BodyKind::Enum(all) = &trace.bodies[body].kind else { return Err(TraceEnd::Rejected) };
        let index = match (discover, all.names.get(all.tried)) {
            // All variants are tried before one is examined further, which may need a value of another.
            (true, Some(_)) => None,
            (true, None) => all.variants.iter().position(|variant| !trace.is_content_done(&variant.content)),
            (false, _) => trace.simplest_variant(all),
        };
        let name = match index {
            Some(index) => all.variants[index].names[0],
            None if discover => all.names.get(all.tried).copied().ok_or(TraceEnd::Rejected)?,
            None => return Err(TraceEnd::Rejected),
        };
        nested(trace, discover, |trace| visitor.visit_enum(VariantTracer { trace, body, index, name, discover }))
    }
}
