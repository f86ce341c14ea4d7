//! A counterpart of schemars' generator: definitions by name, with clashes numbered as schemars does.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::rc::Rc;

use proc_macro2::Span;
use serde_json::{Map, Value, json};

use super::compose;
use super::kind::SchemaKind;
use super::shape::{AttributeView, TypeShape, TypeShapes};
use super::{LossKind, SchemaContract, UnseenPart};
use crate::ty::{DefinitionId, ScopeId, Ty, TypeDefinition};

/// The deepest inline schema. A type that contains itself inline does not end, in schemars either.
const TOO_DEEP: usize = 64;

/// Generates the schemas of types, and collects the definitions they refer to.
pub(crate) struct SchemaGenerator<'w> {
    pub(super) shapes: &'w TypeShapes<'w>,
    pub(super) contract: SchemaContract,
    definitions: Map<String, Value>,
    /// The names in use, by the id of their type.
    names: BTreeMap<String, String>,
    used: BTreeSet<String>,
    pub(super) unseen: Vec<UnseenPart>,
    /// `true` if a schema generated so far has a rule that its type may not enforce.
    pub(crate) has_own_rules: bool,
    /// The definitions that are being generated, each with the current place in it.
    within: Vec<(DefinitionId, Span)>,
    depth: usize,
}

/// The struct or enum whose schema is being generated.
#[derive(Clone)]
pub(super) struct ContainerContext {
    pub(super) id: DefinitionId,
    pub(super) definition: Rc<TypeDefinition>,
    pub(super) shape: Rc<TypeShape>,
    pub(super) arguments: Vec<Ty>,
    pub(super) generics: Vec<(String, Ty)>,
}

impl ContainerContext {
    pub(super) fn scope(&self) -> ScopeId {
        self.definition.scope
    }

    pub(super) fn ty(&self) -> Ty {
        Ty::Defined { definition: self.id, arguments: self.arguments.clone() }
    }
}

/// A state of a generator to return to.
pub(super) struct GeneratorSnapshot {
    definitions: Map<String, Value>,
    names: BTreeMap<String, String>,
    used: BTreeSet<String>,
}

impl<'w> SchemaGenerator<'w> {
    /// Creates a generator without definitions.
    pub(crate) fn new(shapes: &'w TypeShapes<'w>, contract: SchemaContract) -> Self {
        Self {
            shapes,
            contract,
            definitions: Map::new(),
            names: BTreeMap::new(),
            used: BTreeSet::new(),
            unseen: Vec::new(),
            has_own_rules: false,
            within: Vec::new(),
            depth: 0,
        }
    }

    /// Returns the definitions that the generated schemas refer to.
    pub(crate) fn into_definitions(self) -> Map<String, Value> {
        self.definitions
    }

    /// Takes the unseen parts since the last call.
    pub(crate) fn take_unseen(&mut self) -> Vec<UnseenPart> {
        std::mem::take(&mut self.unseen)
    }

    pub(super) fn snapshot(&self) -> GeneratorSnapshot {
        GeneratorSnapshot { definitions: self.definitions.clone(), names: self.names.clone(), used: self.used.clone() }
    }

    /// Drops the definitions since a snapshot, so that their unseen parts are reported again at the next use.
    pub(super) fn restore(&mut self, mark: GeneratorSnapshot) {
        self.definitions = mark.definitions;
        self.names = mark.names;
        self.used = mark.used;
    }

    /// Reports an unseen part at the current place, once.
    pub(super) fn report(&mut self, what: String, why: impl Into<String>, loss: LossKind) {
        let (inside, at) = self.within.last().copied().unzip();
        let unseen = UnseenPart { what, why: why.into(), inside, at: at.unwrap_or_else(Span::call_site), loss };
        let is_known =
            |known: &UnseenPart| (&known.what, &known.why, known.inside) == (&unseen.what, &unseen.why, unseen.inside);
        if !self.unseen.iter().any(is_known) {
            self.unseen.push(unseen);
        }
    }

    /// Sets the place for reports inside of the current definition.
    pub(super) fn set_place(&mut self, place: Span) {
        if let Some((_, at)) = self.within.last_mut() {
            *at = place;
        }
    }

    /// Returns the schema of a type for use in another: inline, or a reference to its definition.
    pub(crate) fn subschema_for(&mut self, ty: &Ty) -> Value {
        let kind = self.shapes.kind(ty);
        if let SchemaKind::Unseen(what, why) = kind {
            // Only this part is unknown: the schema around it does not depend on it.
            self.report(what, why, LossKind::Leaf);
            return Value::Bool(true);
        }
        if self.is_inline(&kind) {
            return self.schema_of(kind, ty);
        }
        let (id, name) = (self.shapes.id_of(&kind), self.shapes.name_of(&kind));
        self.refer(id, &name, |generator| generator.schema_of(kind, ty))
    }

    /// Returns a reference to the definition with this id, which is added if it is new.
    pub(super) fn refer(&mut self, id: String, name: &str, schema: impl FnOnce(&mut Self) -> Value) -> Value {
        let name = match self.names.get(&id) {
            Some(name) => name.clone(),
            None => {
                let name = self.unused(name);
                self.used.insert(name.clone());
                self.names.insert(id, name.clone());
                name
            }
        };
        let reference = json!({"$ref": format!("#/$defs/{}", encoded(&name))});
        if !self.definitions.contains_key(&name) {
            // A placeholder lets the definition refer to itself.
            self.definitions.insert(name.clone(), Value::Bool(false));
            let schema = schema(self);
            self.definitions.insert(name, schema);
        }
        reference
    }

    fn unused(&self, name: &str) -> String {
        if !self.used.contains(name) {
            return name.to_owned();
        }
        let mut number = 2;
        loop {
            let numbered = format!("{name}{number}");
            if !self.used.contains(&numbered) {
                return numbered;
            }
            number += 1;
        }
    }

    /// Returns the inline schema of a type.
    pub(super) fn schema_for(&mut self, ty: &Ty) -> Value {
        let kind = self.shapes.kind(ty);
        self.schema_of(kind, ty)
    }

    /// Returns the schema of a type without the `null` of an `Option`.
    pub(super) fn present_schema_for(&mut self, ty: &Ty) -> Value {
        match self.shapes.kind(ty) {
            SchemaKind::Option(inner) => self.present_schema_for(&inner),
            kind => self.schema_of(kind, ty),
        }
    }

    pub(super) fn is_option(&self, ty: &Ty) -> bool {
        matches!(self.shapes.kind(ty), SchemaKind::Option(_))
    }

    pub(super) fn is_inline_type(&self, ty: &Ty) -> bool {
        self.is_inline(&self.shapes.kind(ty))
    }

    fn is_inline(&self, kind: &SchemaKind) -> bool {
        match kind {
            SchemaKind::Plain(plain) => plain.inline,
            SchemaKind::Defined(id, _) => {
                self.shapes.shape(*id, AttributeView::JsonSchema).is_ok_and(|shape| shape.inline)
            }
            SchemaKind::Result(..) | SchemaKind::Bound(_) | SchemaKind::Range(_) => false,
            _ => true,
        }
    }

    fn schema_of(&mut self, kind: SchemaKind, ty: &Ty) -> Value {
        self.depth += 1;
        let is_endless = self.depth > TOO_DEEP && !matches!(kind, SchemaKind::Plain(_));
        let schema = if is_endless { self.report_endless(self.shapes.type_name(ty)) } else { self.write(kind) };
        self.depth -= 1;
        schema
    }

    fn write(&mut self, kind: SchemaKind) -> Value {
        match kind {
            SchemaKind::Plain(plain) => self.plain(&plain),
            SchemaKind::Unit => json!({"type": "null"}),
            SchemaKind::Option(inner) => {
                let mut schema = self.subschema_for(&inner);
                compose::allow_null(&mut schema);
                schema
            }
            SchemaKind::List(item) => json!({"type": "array", "items": self.subschema_for(&item)}),
            SchemaKind::Set(item) => json!({"type": "array", "uniqueItems": true, "items": self.subschema_for(&item)}),
            SchemaKind::Map(key, value) => {
                let keys = self.schema_for(&key);
                let values = self.subschema_for(&value);
                compose::map(&keys, values, &self.definitions)
            }
            SchemaKind::Tuple(items) => {
                let forms: Vec<Value> = items.iter().map(|item| self.subschema_for(item)).collect();
                json!({"type": "array", "prefixItems": forms, "minItems": items.len(), "maxItems": items.len()})
            }
            SchemaKind::Array(_, 0) => json!({"type": "array", "maxItems": 0}),
            SchemaKind::Array(item, length) => {
                json!({"type": "array", "items": self.subschema_for(&item), "minItems": length, "maxItems": length})
            }
            SchemaKind::Result(success, error) => {
                let forms = [("Ok", success), ("Err", error)];
                json!({"oneOf": forms.map(|(name, ty)| property(name, self.subschema_for(&ty)))})
            }
            SchemaKind::Either(left, right) => {
                let forms = [("Left", left), ("Right", right)];
                json!({"oneOf": forms.map(|(name, ty)| compose::externally_tagged(name, self.subschema_for(&ty)))})
            }
            SchemaKind::Bound(limit) => {
                let included = property("Included", self.subschema_for(&limit));
                let excluded = property("Excluded", self.subschema_for(&limit));
                json!({"oneOf": [included, excluded, {"type": "string", "const": "Unbounded"}]})
            }
            SchemaKind::Range(limit) => {
                let limit = self.subschema_for(&limit);
                json!({"type": "object", "properties": {"start": limit, "end": limit}, "required": ["start", "end"]})
            }
            SchemaKind::Defined(id, arguments) => match self.shapes.shape(id, AttributeView::JsonSchema) {
                Ok(shape) => {
                    let definition = self.shapes.types.definition(id);
                    let generics = self.shapes.generics(id, &arguments);
                    self.within.push((id, definition.item.ident.span()));
                    let schema = self.container(&ContainerContext { id, definition, shape, arguments, generics });
                    self.within.pop();
                    schema
                }
                Err(why) => {
                    let what = self.shapes.types.definition(id).item.ident.to_string();
                    self.report(what, why, LossKind::Type);
                    Value::Bool(true)
                }
            },
            SchemaKind::Endless(what) => self.report_endless(what),
            SchemaKind::Unseen(what, why) => {
                self.report(what, why, LossKind::Type);
                Value::Bool(true)
            }
        }
    }

    fn report_endless(&mut self, what: String) -> Value {
        let why =
            "its schema contains itself without end, and the program aborts with a stack overflow when it generates it";
        self.report(what, why, LossKind::Program);
        Value::Bool(true)
    }
}

fn property(name: &str, schema: Value) -> Value {
    json!({"type": "object", "properties": {name: schema}, "required": [name]})
}

/// Escapes a name for a reference.
fn encoded(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'~' => text.push_str("~0"),
            b'/' => text.push_str("~1"),
            b'!' | b'$' | b'&'..=b';' | b'=' | b'?'..=b'Z' | b'_' | b'a'..=b'z' => text.push(char::from(byte)),
            _ => {
                let _ = write!(text, "%{byte:2X}");
            }
        }
    }
    text
}
