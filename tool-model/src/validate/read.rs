//! Parsing of schemas from JSON, and detection of keywords that cannot be enforced.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::SchemaError;
use super::cycle;
use super::expectation::quoted;
use super::keywords::KeywordReader;
use super::schema::{Definitions, Schema, SchemaRules};
use crate::compatibility::SourceFacts;

/// The depth of nesting of a schema. Deeper ones are rejected: parsing, checking or dropping them could exhaust the stack.
const DEEPEST_SCHEMA: usize = 128;

/// A schema with the definitions that it refers to. Keywords with errors are left out.
pub(crate) struct ParsedSchema {
    pub(crate) schema: Schema,
    pub(crate) definitions: Definitions,
    pub(crate) errors: Vec<SchemaError>,
}

impl ParsedSchema {
    pub(crate) fn new(schema: &Value, defs: &BTreeMap<String, Value>) -> Self {
        let mut reader = SchemaReader::default();
        let own_defs = schema.get("$defs");
        let root = reader.schema(schema, None);
        let mut definitions = Definitions::new();
        while let Some((name, referrer)) = reader.references.pop_first() {
            if definitions.contains_key(&name) {
                continue;
            }
            let target = defs.get(&name).or_else(|| own_defs?.get(&name));
            let Some(target) = target else {
                let message = format!("there is no definition `{name}`");
                reader.errors.push(SchemaError { path: referrer, message });
                continue;
            };
            reader.path = vec!["$defs".to_owned(), name.clone()];
            let definition = reader.schema(target, Some(&name));
            definitions.insert(name, definition);
        }
        reader.errors.extend(cycle::find(&definitions));
        Self { schema: root, definitions, errors: reader.errors }
    }
}

/// The state of the parser.
#[derive(Default)]
pub(super) struct SchemaReader {
    path: Vec<String>,
    depth: usize,
    /// The definitions that are still to be parsed, each with the path of a reference.
    references: BTreeMap<String, String>,
    errors: Vec<SchemaError>,
}

impl SchemaReader {
    pub(super) fn schema(&mut self, schema: &Value, name: Option<&str>) -> Schema {
        match schema {
            Value::Bool(true) => Schema::Anything,
            Value::Bool(false) => Schema::Nothing,
            Value::Object(_) if self.depth == DEEPEST_SCHEMA => {
                self.error(format!("the schema is nested more than {DEEPEST_SCHEMA} levels deep"));
                Schema::Anything
            }
            Value::Object(map) => {
                self.depth += 1;
                let rules = self.rules(map, name);
                self.depth -= 1;
                Schema::Rules(Box::new(rules))
            }
            other => {
                self.error(format!("a schema must be an object, true or false, not {}", quoted(other)));
                Schema::Anything
            }
        }
    }

    fn rules(&mut self, map: &Map<String, Value>, name: Option<&str>) -> SchemaRules {
        self.refuse_unsupported(map);
        let title = map.get("title").and_then(Value::as_str);
        let mut keywords = KeywordReader { reader: self, map };
        SchemaRules {
            name: name.or(title).map(str::to_owned),
            reference: keywords.reference(),
            kinds: keywords.kinds(),
            allowed: keywords.allowed(),
            number: keywords.number_rules(),
            text: keywords.text_rules(),
            array: keywords.array_rules(),
            object: keywords.object_rules(),
            all_of: keywords.schemas("allOf"),
            any_of: keywords.schemas("anyOf"),
            one_of: keywords.schemas("oneOf"),
            not: keywords.schema("not"),
            condition: keywords.condition(),
            facts: SourceFacts::read(map),
        }
    }

    fn refuse_unsupported(&mut self, map: &Map<String, Value>) {
        for (keyword, instead) in UNSUPPORTED {
            if map.get(keyword).is_some_and(|value| *value != Value::Bool(true)) {
                self.within(keyword, |reader| reader.error(format!("`{keyword}` is not supported; {instead}")));
            }
        }
        if map.contains_key("$id") && !self.path.is_empty() {
            self.within("$id", |reader| reader.error("`$id` inside a schema is not supported".to_owned()));
        }
    }

    pub(super) fn within<T>(&mut self, step: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step.to_owned());
        let result = read(self);
        self.path.pop();
        result
    }

    pub(super) fn refer_to(&mut self, name: &str) {
        let referrer = self.pointer();
        self.references.entry(name.to_owned()).or_insert(referrer);
    }

    pub(super) fn error(&mut self, message: String) {
        self.errors.push(SchemaError { path: self.pointer(), message });
    }

    fn pointer(&self) -> String {
        let steps = self.path.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1")));
        format!("#{}", steps.collect::<String>())
    }
}

/// Keywords that affect validity but are not supported, each with its replacement.
const UNSUPPORTED: [(&str, &str); 5] = [
    ("unevaluatedItems", "use `prefixItems` and `items`"),
    ("$dynamicRef", "use `$ref` to `#/$defs/NAME`"),
    ("$recursiveRef", "use `$ref` to `#/$defs/NAME`"),
    ("dependencies", "use `dependentRequired` or `dependentSchemas`"),
    ("additionalItems", "use `prefixItems` and `items`"),
];
