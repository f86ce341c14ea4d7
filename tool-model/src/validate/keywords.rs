//! Parsing of the single keywords of a schema.

use std::collections::BTreeMap;

use regex_lite::Regex;
use serde_json::{Map, Value};

use super::equality::{equal, sorted};
use super::expectation::{CountRange, quoted};
use super::format::StringFormat;
use super::number::ExactNumber;
use super::read::SchemaReader;
use super::schema::{
    ArrayRules, ConditionRules, ContainsRules, JsonTypes, NumberLimit, NumberRules, ObjectRules, Schema, TextRules,
};

/// Parses the keywords of one object schema.
pub(super) struct KeywordReader<'a> {
    pub(super) reader: &'a mut SchemaReader,
    pub(super) map: &'a Map<String, Value>,
}

impl KeywordReader<'_> {
    pub(super) fn reference(&mut self) -> Option<String> {
        self.keyword("$ref", "`#/$defs/NAME`, the only place schemas are referred to", |reader, value| {
            let name = definition_name(value.as_str()?)?;
            reader.refer_to(&name);
            Some(name)
        })
    }

    pub(super) fn kinds(&mut self) -> Option<JsonTypes> {
        let wants = format!("one of the types {}, or a list of them", JsonTypes::all_names());
        self.keyword("type", &wants, |_, value| match value {
            Value::String(name) => JsonTypes::named(name),
            Value::Array(names) if !names.is_empty() => names
                .iter()
                .map(|name| JsonTypes::named(name.as_str()?))
                .try_fold(JsonTypes::default(), |kinds, kind| Some(kinds.with(kind?))),
            _ => None,
        })
    }

    /// Parses `enum` and `const` into the values that both allow.
    pub(super) fn allowed(&mut self) -> Option<Vec<Value>> {
        let listed = self.keyword("enum", "a list of values", |_, value| value.as_array().cloned());
        let Some(exact) = self.map.get("const") else { return listed };
        let contradicted = listed.is_some_and(|listed| !listed.iter().any(|value| equal(value, exact)));
        Some(if contradicted { Vec::new() } else { vec![exact.clone()] })
    }

    pub(super) fn number_rules(&mut self) -> NumberRules {
        let least = [self.bound("minimum", false), self.bound("exclusiveMinimum", true)];
        let most = [self.bound("maximum", false), self.bound("exclusiveMaximum", true)];
        NumberRules {
            least: tighter(least, ExactNumber::is_above),
            most: tighter(most, |a, b| b.is_above(a)),
            multiple_of: self.keyword("multipleOf", "a number greater than 0", |_, value| {
                number(value).filter(|divisor| divisor.is_positive())
            }),
        }
    }

    fn bound(&mut self, key: &str, exclusive: bool) -> Option<NumberLimit> {
        self.keyword(key, "a number", |_, value| Some(NumberLimit { value: number(value)?, exclusive }))
    }

    pub(super) fn text_rules(&mut self) -> TextRules {
        TextRules {
            length: self.count("minLength", "maxLength"),
            pattern: self
                .keyword("pattern", "a string", |reader, value| Some(pattern(reader, value.as_str()?)))
                .flatten(),
            format: self.keyword("format", "a string", |_, value| value.as_str().map(StringFormat::named)).flatten(),
        }
    }

    pub(super) fn array_rules(&mut self) -> ArrayRules {
        let counted = self.count("minContains", "maxContains");
        let contains = self.schema("contains");
        ArrayRules {
            count: self.count("minItems", "maxItems"),
            prefix: self.schemas("prefixItems"),
            items: self.schema("items"),
            contains: contains.map(|schema| ContainsRules {
                schema,
                count: CountRange { least: counted.least.or(Some(1)), ..counted },
            }),
            unique: self.keyword("uniqueItems", "true or false", |_, value| value.as_bool()).unwrap_or(false),
        }
    }

    pub(super) fn object_rules(&mut self) -> ObjectRules {
        ObjectRules {
            count: self.count("minProperties", "maxProperties"),
            properties: self.schemas_by_name("properties"),
            patterns: self.schemas_by_pattern("patternProperties"),
            additional: self.schema("additionalProperties"),
            unevaluated: self.schema("unevaluatedProperties"),
            names: self.schema("propertyNames"),
            required: self.keyword("required", LIST_OF_NAMES, |_, value| names(value)).unwrap_or_default(),
            dependent_required: self.names_by_name("dependentRequired"),
            dependent_schemas: self.schemas_by_name("dependentSchemas"),
        }
    }

    pub(super) fn condition(&mut self) -> Option<ConditionRules> {
        let (then, otherwise) = (self.schema("then"), self.schema("else"));
        self.schema("if").map(|when| ConditionRules { when, then, otherwise })
    }

    fn count(&mut self, least: &str, most: &str) -> CountRange {
        let mut read = |key| self.keyword(key, "a whole number from 0", |_, value| number(value)?.as_count());
        CountRange { least: read(least), most: read(most) }
    }

    pub(super) fn schema(&mut self, key: &str) -> Option<Schema> {
        self.keyword(key, "a schema", |reader, value| Some(reader.schema(value, None)))
    }

    pub(super) fn schemas(&mut self, key: &str) -> Vec<Schema> {
        let read = self.keyword(key, "a list of at least one schema", |reader, value| {
            let schemas = value.as_array().filter(|schemas| !schemas.is_empty())?.iter().enumerate();
            let read = |(index, schema): (usize, _)| reader.within(&index.to_string(), |r| r.schema(schema, None));
            Some(schemas.map(read).collect())
        });
        read.unwrap_or_default()
    }

    fn schemas_by_name(&mut self, key: &str) -> BTreeMap<String, Schema> {
        let read = self.keyword(key, "an object of schemas", |reader, value| {
            let read = |(name, schema): (&String, _)| (name.clone(), reader.within(name, |r| r.schema(schema, None)));
            Some(sorted(value.as_object()?).into_iter().map(read).collect())
        });
        read.unwrap_or_default()
    }

    fn schemas_by_pattern(&mut self, key: &str) -> Vec<(Regex, Schema)> {
        let read = self.keyword(key, "an object of schemas", |reader, value| {
            let read = |(text, schema): (&String, _)| {
                reader.within(text, |reader| Some((pattern(reader, text)?, reader.schema(schema, None))))
            };
            Some(sorted(value.as_object()?).into_iter().filter_map(read).collect())
        });
        read.unwrap_or_default()
    }

    fn names_by_name(&mut self, key: &str) -> BTreeMap<String, Vec<String>> {
        let read = self.keyword(key, "an object of lists of property names", |_, value| {
            sorted(value.as_object()?).into_iter().map(|(name, list)| Some((name.clone(), names(list)?))).collect()
        });
        read.unwrap_or_default()
    }

    /// Parses one keyword and reports an error if `read` returns `None` for a value of the wrong type.
    fn keyword<T>(
        &mut self,
        key: &str,
        wants: &str,
        read: impl FnOnce(&mut SchemaReader, &Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.map.get(key)?;
        self.reader.within(key, |reader| {
            let result = read(reader, value);
            if result.is_none() {
                reader.error(format!("`{key}` must be {wants}, not {}", quoted(value)));
            }
            result
        })
    }
}

const LIST_OF_NAMES: &str = "a list of property names";

fn names(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

fn number(value: &Value) -> Option<ExactNumber> {
    match value {
        Value::Number(number) => Some(ExactNumber::from(number)),
        _ => None,
    }
}

fn pattern(reader: &mut SchemaReader, text: &str) -> Option<Regex> {
    Regex::new(text).map_err(|error| reader.error(format!("`{text}` is not a usable pattern: {error}"))).ok()
}

/// Returns the tighter bound. Of two equal ones that is the exclusive one.
fn tighter(
    [inclusive, exclusive]: [Option<NumberLimit>; 2],
    is_tighter: fn(ExactNumber, ExactNumber) -> bool,
) -> Option<NumberLimit> {
    match (inclusive, exclusive) {
        (Some(inclusive), Some(exclusive)) if is_tighter(inclusive.value, exclusive.value) => Some(inclusive),
        (inclusive, exclusive) => exclusive.or(inclusive),
    }
}

/// Returns `Order` for `#/$defs/Order`. The name may be escaped as part of a URI and of a JSON pointer.
fn definition_name(reference: &str) -> Option<String> {
    let name = reference.strip_prefix("#/$defs/").filter(|name| !name.contains('/'))?;
    Some(percent_decoded(name)?.replace("~1", "/").replace("~0", "~"))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}
