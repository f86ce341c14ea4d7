//! Planning a redaction: from JSON schemas to a graph of places.
//!
//! Several schemas can hold for one value (`$ref`, `allOf`, `anyOf`, `if`, …), and any of them may know of a secret. A
//! [`ShapeNode`] represents such a set of schemas, and its children for the sets that hold for its entries and items. Sets
//! are numbered when they are first met, so that recursive schemas end.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use tool_model::{ToolDefinition, reference_target};

use super::{ListShape, ObjectShape, Redaction, ShapeNode, Visibility};

/// The most schemas that are looked at for one plan. Schemas of other programs can refer to each other in more ways
/// than can be followed; what lies beyond is hidden.
const MOST_STEPS: usize = 1 << 18;

pub(super) fn plan(definition: &ToolDefinition) -> Redaction {
    let arguments: Vec<(&String, Value)> =
        definition.arguments.iter().map(|(name, argument)| (name, argument.schema())).collect();
    let mut schemas = SchemaIndex::default();
    for (name, schema) in &definition.defs {
        let id = schemas.add(schema);
        schemas.defs.insert(name, id);
    }
    let roots: Vec<(&str, Id)> = arguments.iter().map(|(name, schema)| (name.as_str(), schemas.add(schema))).collect();
    schemas.read_all();
    let mut planner = RedactionPlanner {
        holds_secret: schemas.holding_secrets(),
        schemas: schemas.all,
        nodes: Vec::new(),
        known: HashMap::new(),
        open: Vec::new(),
        steps: 0,
    };
    // Without secrets, a value of the wrong shape reveals nothing.
    let has_secrets = roots.iter().any(|(_, id)| planner.holds_secret[*id]);
    let mut place = |id| if has_secrets { planner.place(&[id]) } else { Visibility::Shown };
    let mut arguments: Vec<(Box<str>, Visibility)> = Vec::new();
    for ((name, id), argument) in roots.iter().zip(definition.arguments.values()) {
        let aliases = argument.aliases.iter().map(String::as_str);
        let aliases = aliases.filter(|alias| !definition.arguments.contains_key(*alias));
        let visibility = place(*id);
        arguments.extend(aliases.chain([*name]).map(|name| (name.into(), visibility)));
    }
    arguments.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    planner.finish();
    Redaction { arguments: arguments.into(), nodes: planner.nodes.into() }
}

/// The index of a schema in [`SchemaIndex::all`].
type Id = usize;

/// The keywords of one schema that matter for a redaction.
#[derive(Default)]
struct SchemaFacts<'a> {
    is_secret: bool,
    types: Option<ShapeTypes>,
    /// Schemas for the same value.
    same: Vec<Id>,
    /// `properties`, sorted.
    named: Vec<(&'a str, Id)>,
    /// Schemas for any key. Patterns are not matched: each may apply.
    patterns: Vec<Id>,
    /// Schemas for the keys that are not `named`.
    unnamed: Vec<Id>,
    /// Schemas for the first items.
    first: Vec<Id>,
    /// Schemas for the items behind those.
    rest: Vec<Id>,
    /// Schemas for any item.
    contains: Vec<Id>,
}

#[derive(Clone, Copy, Default)]
struct ShapeTypes {
    object: bool,
    list: bool,
    number: bool,
}

impl ShapeTypes {
    fn new(names: &Value) -> Self {
        let is = |name: &str| match names {
            Value::Array(names) => names.iter().any(|known| known == name),
            known => known == name,
        };
        Self { object: is("object"), list: is("array"), number: is("number") || is("integer") }
    }
}

impl SchemaFacts<'_> {
    fn name(&self, name: &str) -> Option<Id> {
        let index = self.named.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
        Some(self.named[index].1)
    }

    fn describes_object(&self) -> bool {
        !self.named.is_empty() || !self.patterns.is_empty() || !self.unnamed.is_empty()
    }

    fn describes_list(&self) -> bool {
        !self.first.is_empty() || !self.rest.is_empty() || !self.contains.is_empty()
    }

    /// Returns `true` if the schema allows values of every shape, as `{}` does.
    fn says_nothing(&self) -> bool {
        self.types.is_none() && self.same.is_empty() && !self.describes_object() && !self.describes_list()
    }

    /// The schemas of the entries and the items of a value.
    fn below(&self) -> impl Iterator<Item = Id> {
        let named = self.named.iter().map(|(_, id)| *id);
        let lists = [&self.patterns, &self.unnamed, &self.first, &self.rest, &self.contains];
        named.chain(lists.into_iter().flatten().copied())
    }
}

/// All schemas of a tool's arguments.
#[derive(Default)]
struct SchemaIndex<'a> {
    all: Vec<SchemaFacts<'a>>,
    defs: BTreeMap<&'a str, Id>,
    /// Schemas that have a number and are still to be read.
    unread: Vec<(Id, &'a Value)>,
}

impl<'a> SchemaIndex<'a> {
    fn add(&mut self, schema: &'a Value) -> Id {
        let id = self.all.len();
        self.all.push(SchemaFacts::default());
        self.unread.push((id, schema));
        id
    }

    fn add_all(&mut self, schemas: impl IntoIterator<Item = &'a Value>) -> Vec<Id> {
        schemas.into_iter().map(|schema| self.add(schema)).collect()
    }

    fn read_all(&mut self) {
        while let Some((id, schema)) = self.unread.pop() {
            self.all[id] = self.read(schema);
        }
    }

    /// Reads every keyword of JSON Schema 2020-12 that applies schemas, and the keywords of draft 7.
    fn read(&mut self, schema: &'a Value) -> SchemaFacts<'a> {
        let mut read = SchemaFacts::default();
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            let list = value.as_array().into_iter().flatten();
            let map = value.as_object().into_iter().flatten();
            let one = Some(value).filter(|value| value.is_object());
            match keyword.as_str() {
                "writeOnly" => read.is_secret |= *value == true,
                "type" => read.types = Some(ShapeTypes::new(value)),
                "$ref" => match reference_target(schema).and_then(|name| self.defs.get(&*name)) {
                    Some(target) => read.same.push(*target),
                    // The target is unknown.
                    None => read.is_secret = true,
                },
                "$dynamicRef" | "$recursiveRef" => read.is_secret = true,
                "allOf" | "anyOf" | "oneOf" => read.same.extend(self.add_all(list)),
                // Secret keys make their object secret, and JSON with secrets makes its text secret.
                "if" | "then" | "else" | "not" | "propertyNames" | "contentSchema" => {
                    read.same.extend(self.add_all(one));
                }
                "dependentSchemas" | "dependencies" => {
                    read.same.extend(self.add_all(map.map(|(_, schema)| schema).filter(|schema| schema.is_object())));
                }
                "properties" => read.named = map.map(|(name, schema)| (name.as_str(), self.add(schema))).collect(),
                "patternProperties" => read.patterns = self.add_all(map.map(|(_, schema)| schema)),
                "additionalProperties" | "unevaluatedProperties" => read.unnamed.extend(self.add_all(one)),
                "prefixItems" => read.first = self.add_all(list),
                "items" if value.is_array() => read.first = self.add_all(list),
                "items" | "additionalItems" | "unevaluatedItems" => read.rest.extend(self.add_all(one)),
                "contains" => read.contains.extend(self.add_all(one)),
                _ => {}
            }
        }
        read.named.sort_unstable_by_key(|(name, _)| *name);
        read
    }

    /// Returns, for each schema, `true` if it is secret or has a secret below it.
    fn holding_secrets(&self) -> Vec<bool> {
        let mut used_by = vec![Vec::new(); self.all.len()];
        for (id, schema) in self.all.iter().enumerate() {
            schema.same.iter().copied().chain(schema.below()).for_each(|inner| used_by[inner].push(id));
        }
        let mut holds = vec![false; self.all.len()];
        let mut open: Vec<Id> = (0..self.all.len()).filter(|id| self.all[*id].is_secret).collect();
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut holds[id], true) {
                open.extend(&used_by[id]);
            }
        }
        holds
    }
}

struct RedactionPlanner<'a> {
    schemas: Vec<SchemaFacts<'a>>,
    holds_secret: Vec<bool>,
    nodes: Vec<ShapeNode>,
    /// The nodes of the sets of schemas that were met.
    known: HashMap<Vec<Id>, usize>,
    /// Nodes that have a number and are still to be made.
    open: Vec<(usize, Vec<Id>)>,
    steps: usize,
}

impl<'a> RedactionPlanner<'a> {
    fn finish(&mut self) {
        while let Some((index, set)) = self.open.pop() {
            self.nodes[index] = self.node(&set);
        }
    }

    /// Returns the visibility of a value to which these schemas apply.
    fn place(&mut self, schemas: &[Id]) -> Visibility {
        let Some(set) = self.collected(schemas) else { return Visibility::Hidden };
        if set.iter().any(|id| self.schemas[*id].is_secret) {
            return Visibility::Hidden;
        }
        if set.iter().any(|id| self.schemas[*id].says_nothing()) && !self.hold_secret(&set) {
            return Visibility::Shown;
        }
        if let Some(index) = self.known.get(&set) {
            return Visibility::ByShape(*index);
        }
        let index = self.nodes.len();
        self.nodes.push(ShapeNode::default());
        self.known.insert(set.clone(), index);
        self.open.push((index, set));
        Visibility::ByShape(index)
    }

    /// Returns the schemas and all others that apply to the same value, sorted; `None` if they are too many.
    fn collected(&mut self, schemas: &[Id]) -> Option<Vec<Id>> {
        let mut open = schemas.to_vec();
        let mut set = std::collections::BTreeSet::new();
        while let Some(id) = open.pop() {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return None;
            }
            if set.insert(id) {
                open.extend(&self.schemas[id].same);
            }
        }
        Some(set.into_iter().collect())
    }

    fn hold_secret(&self, set: &[Id]) -> bool {
        set.iter().any(|id| self.holds_secret[*id])
    }

    fn node(&mut self, set: &[Id]) -> ShapeNode {
        let allows =
            |allowed: fn(ShapeTypes) -> bool| set.iter().any(|id| self.schemas[*id].types.is_some_and(allowed));
        let numbers = allows(|types| types.number);
        let holds_secret = self.hold_secret(set);
        // Without secrets below, an object or array of unknown content is shown.
        let any_object = (!holds_secret && allows(|types| types.object))
            .then(|| ObjectShape { named: Box::default(), rest: Visibility::Shown });
        let any_list = (!holds_secret && allows(|types| types.list))
            .then(|| ListShape { first: Box::default(), rest: Visibility::Shown });
        // An entry without its own schema may have been meant for any of these.
        let secrets: Vec<Id> =
            set.iter().flat_map(|id| self.schemas[*id].below()).filter(|inner| self.holds_secret[*inner]).collect();
        let unknown = if holds_secret { Visibility::Hidden } else { Visibility::Shown };
        let object = self.object(set, &secrets, unknown).or(any_object);
        let list = self.list(set, &secrets, unknown).or(any_list);
        ShapeNode { holds_secret, object, list, numbers }
    }

    fn object(&mut self, set: &[Id], secrets: &[Id], unknown: Visibility) -> Option<ObjectShape> {
        let schemas = || set.iter().map(|id| &self.schemas[*id]);
        let patterns: Vec<Id> = schemas().flat_map(|schema| &schema.patterns).copied().collect();
        let rest: Vec<Id> = schemas().flat_map(|schema| &schema.unnamed).chain(&patterns).copied().collect();
        let mut names: Vec<&'a str> = schemas().flat_map(|schema| &schema.named).map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() && rest.is_empty() {
            return None;
        }
        let named = names.into_iter().map(|name| {
            let mut ids = patterns.clone();
            for schema in set.iter().map(|id| &self.schemas[*id]) {
                match schema.name(name) {
                    Some(id) => ids.push(id),
                    None => ids.extend(&schema.unnamed),
                }
            }
            (name.into(), self.place(&ids))
        });
        Some(ObjectShape { named: named.collect(), rest: self.rest(rest, secrets, unknown) })
    }

    fn list(&mut self, set: &[Id], secrets: &[Id], unknown: Visibility) -> Option<ListShape> {
        let schemas = || set.iter().map(|id| &self.schemas[*id]);
        let contains: Vec<Id> = schemas().flat_map(|schema| &schema.contains).copied().collect();
        let rest: Vec<Id> = schemas().flat_map(|schema| &schema.rest).chain(&contains).copied().collect();
        let longest = schemas().map(|schema| schema.first.len()).max().unwrap_or_default();
        if longest == 0 && rest.is_empty() {
            return None;
        }
        let first = (0..longest).map(|index| {
            let mut ids = contains.clone();
            for schema in set.iter().map(|id| &self.schemas[*id]) {
                match schema.first.get(index) {
                    Some(id) => ids.push(*id),
                    None => ids.extend(&schema.rest),
                }
            }
            self.place(&ids)
        });
        Some(ListShape { first: first.collect(), rest: self.rest(rest, secrets, unknown) })
    }

    /// Returns the visibility of an entry or item that no schema names.
    fn rest(&mut self, mut schemas: Vec<Id>, secrets: &[Id], unknown: Visibility) -> Visibility {
        if schemas.is_empty() {
            return unknown;
        }
        schemas.extend(secrets);
        self.place(&schemas)
    }
}
