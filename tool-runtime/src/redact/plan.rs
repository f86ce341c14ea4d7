//! Planning a redaction: from JSON schemas to a graph of places.
//!
//! Several schemas can hold for one value (`$ref`, `allOf`, `anyOf`, `if`, …), and any of them may know of a secret. A
//! [`Node`] stands for such a set of schemas, and its children for the sets that hold for its entries and items. Sets
//! are numbered when they are first met, so that recursive schemas end.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use tool_model::{ToolDefinition, reference_target};

use super::{List, Node, Object, Place, Redaction};

/// The most schemas that are looked at for one plan. Schemas of other programs can refer to each other in more ways
/// than can be followed; what lies beyond is hidden.
const MOST_STEPS: usize = 1 << 20;

pub(super) fn plan(definition: &ToolDefinition) -> Redaction {
    let arguments: Vec<(&String, Value)> =
        definition.arguments.iter().map(|(name, argument)| (name, argument.schema())).collect();
    let mut schemas = Schemas::default();
    for (name, schema) in &definition.defs {
        let id = schemas.add(schema);
        schemas.defs.insert(name, id);
    }
    let roots: Vec<(&str, Id)> = arguments.iter().map(|(name, schema)| (name.as_str(), schemas.add(schema))).collect();
    schemas.read_all();
    let mut planner = Planner {
        holds_secret: schemas.holding_secrets(),
        schemas: schemas.all,
        nodes: Vec::new(),
        known: HashMap::new(),
        open: Vec::new(),
        steps: 0,
    };
    // Without secrets there is nothing that a value of the wrong shape could give away.
    let has_secrets = roots.iter().any(|(_, id)| planner.holds_secret[*id]);
    let mut place = |id| if has_secrets { planner.place(&[id]) } else { Place::Open { objects: true, lists: true } };
    let mut arguments: Vec<(Box<str>, Place)> = roots.iter().map(|(name, id)| ((*name).into(), place(*id))).collect();
    arguments.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    planner.finish();
    Redaction { arguments: arguments.into(), nodes: planner.nodes.into() }
}

/// The index of a schema in [`Schemas::all`].
type Id = usize;

/// What one schema says, as far as it matters here.
#[derive(Default)]
struct Schema<'a> {
    is_secret: bool,
    types: Option<Types>,
    /// Schemas for the same value.
    same: Vec<Id>,
    /// `properties`, sorted.
    named: Vec<(&'a str, Id)>,
    /// Schemas for any key. Patterns are not matched: each of them may be meant.
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
struct Types {
    object: bool,
    list: bool,
    number: bool,
}

impl Types {
    fn new(names: &Value) -> Self {
        let is = |name: &str| match names {
            Value::Array(names) => names.iter().any(|known| known == name),
            known => known == name,
        };
        Self { object: is("object"), list: is("array"), number: is("number") || is("integer") }
    }
}

impl Schema<'_> {
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
struct Schemas<'a> {
    all: Vec<Schema<'a>>,
    defs: BTreeMap<&'a str, Id>,
    /// Those that have a number and are yet to be read.
    unread: Vec<(Id, &'a Value)>,
}

impl<'a> Schemas<'a> {
    fn add(&mut self, schema: &'a Value) -> Id {
        let id = self.all.len();
        self.all.push(Schema::default());
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

    /// Reads every keyword of JSON Schema 2020-12 that applies schemas, and those of draft 7.
    fn read(&mut self, schema: &'a Value) -> Schema<'a> {
        let mut read = Schema::default();
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            let list = value.as_array().into_iter().flatten();
            let map = value.as_object().into_iter().flatten();
            let one = Some(value).filter(|value| value.is_object());
            match keyword.as_str() {
                "writeOnly" => read.is_secret |= *value == true,
                "type" => read.types = Some(Types::new(value)),
                "$ref" => match reference_target(schema).and_then(|name| self.defs.get(&*name)) {
                    Some(target) => read.same.push(*target),
                    // What stands there is not known.
                    None => read.is_secret = true,
                },
                "$dynamicRef" | "$recursiveRef" => read.is_secret = true,
                "allOf" | "anyOf" | "oneOf" => read.same.extend(self.add_all(list)),
                // Keys that are secret make their object one, and so does JSON with secrets its text.
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

    /// For each schema, whether it is secret or has a secret below it.
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

struct Planner<'a> {
    schemas: Vec<Schema<'a>>,
    holds_secret: Vec<bool>,
    nodes: Vec<Node>,
    /// The nodes of the sets of schemas that were met.
    known: HashMap<Vec<Id>, usize>,
    /// Nodes that have a number and are yet to be made.
    open: Vec<(usize, Vec<Id>)>,
    steps: usize,
}

impl Planner<'_> {
    fn finish(&mut self) {
        while let Some((index, set)) = self.open.pop() {
            self.nodes[index] = self.node(&set);
        }
    }

    /// The place of a value for which these schemas hold.
    fn place(&mut self, schemas: &[Id]) -> Place {
        let Some(set) = self.collected(schemas) else { return Place::Secret };
        if set.iter().any(|id| self.schemas[*id].is_secret) {
            return Place::Secret;
        }
        if !set.iter().any(|id| self.holds_secret[*id]) {
            return self.open_place(&set);
        }
        if let Some(index) = self.known.get(&set) {
            return Place::Node(*index);
        }
        let index = self.nodes.len();
        self.nodes.push(Node::default());
        self.known.insert(set.clone(), index);
        self.open.push((index, set));
        Place::Node(index)
    }

    /// The schemas and all that hold for the same value with them, sorted; nothing, if they are too many.
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

    fn open_place(&self, set: &[Id]) -> Place {
        let allows = |shape: fn(&Schema<'_>) -> bool| {
            set.iter().map(|id| &self.schemas[*id]).any(|schema| schema.says_nothing() || shape(schema))
        };
        Place::Open {
            objects: allows(|schema| schema.describes_object() || schema.types.is_some_and(|types| types.object)),
            lists: allows(|schema| schema.describes_list() || schema.types.is_some_and(|types| types.list)),
        }
    }

    fn node(&mut self, set: &[Id]) -> Node {
        let numbers = set.iter().any(|id| self.schemas[*id].types.is_some_and(|types| types.number));
        // What has no place of its own may have been meant for any of these.
        let secrets: Vec<Id> =
            set.iter().flat_map(|id| self.schemas[*id].below()).filter(|inner| self.holds_secret[*inner]).collect();
        Node { object: self.object(set, &secrets), list: self.list(set, &secrets), numbers }
    }

    fn object(&mut self, set: &[Id], secrets: &[Id]) -> Option<Object> {
        let schemas = || set.iter().map(|id| &self.schemas[*id]);
        let patterns: Vec<Id> = schemas().flat_map(|schema| &schema.patterns).copied().collect();
        let mut named: BTreeMap<Box<str>, Vec<Id>> = BTreeMap::new();
        for (name, id) in schemas().flat_map(|schema| &schema.named) {
            named.entry((*name).into()).or_insert_with(|| patterns.clone()).push(*id);
        }
        for schema in schemas().filter(|schema| !schema.unnamed.is_empty()) {
            for (_, ids) in named.iter_mut().filter(|(name, _)| schema.name(name).is_none()) {
                ids.extend(&schema.unnamed);
            }
        }
        let unnamed = schemas().flat_map(|schema| &schema.unnamed).copied();
        let rest: Vec<Id> = patterns.iter().copied().chain(unnamed).collect();
        if named.is_empty() && rest.is_empty() {
            return None;
        }
        let named = named.into_iter().map(|(name, ids)| (name, self.place(&ids))).collect();
        Some(Object { named, rest: self.rest(rest, secrets) })
    }

    fn list(&mut self, set: &[Id], secrets: &[Id]) -> Option<List> {
        let schemas = || set.iter().map(|id| &self.schemas[*id]);
        let contains: Vec<Id> = schemas().flat_map(|schema| &schema.contains).copied().collect();
        let longest = schemas().map(|schema| schema.first.len()).max().unwrap_or_default();
        let mut first = vec![contains.clone(); longest];
        for schema in schemas() {
            for (index, ids) in first.iter_mut().enumerate() {
                match schema.first.get(index) {
                    Some(id) => ids.push(*id),
                    None => ids.extend(&schema.rest),
                }
            }
        }
        let rest: Vec<Id> = schemas().flat_map(|schema| &schema.rest).copied().chain(contains).collect();
        if first.is_empty() && rest.is_empty() {
            return None;
        }
        let first = first.into_iter().map(|ids| self.place(&ids)).collect();
        Some(List { first, rest: self.rest(rest, secrets) })
    }

    /// The place of an entry or an item that no schema names.
    fn rest(&mut self, mut schemas: Vec<Id>, secrets: &[Id]) -> Place {
        if schemas.is_empty() {
            return Place::Secret;
        }
        schemas.extend(secrets);
        self.place(&schemas)
    }
}
