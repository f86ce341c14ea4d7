//! Writes the keywords of one schema.

use serde_json::{Map, Value};

use super::keyword::{Keyword, KeywordSet};
use super::losses::{LossSink, SchemaStep};
use super::node::{SchemaNode, is_null};
use super::profile::OptionalStyle;
use super::sentences;
use super::type_set::TypeSet;
use super::writer::{NullEncoding, SchemaWriter};

const STRING_KEYWORDS: KeywordSet =
    KeywordSet::from_list(&[Keyword::Format, Keyword::MaxLength, Keyword::MinLength, Keyword::Pattern]);
const NUMBER_KEYWORDS: KeywordSet = KeywordSet::from_list(&[
    Keyword::ExclusiveMaximum,
    Keyword::ExclusiveMinimum,
    Keyword::Maximum,
    Keyword::Minimum,
    Keyword::MultipleOf,
]);
const ARRAY_KEYWORDS: KeywordSet = KeywordSet::from_list(&[
    Keyword::Contains,
    Keyword::Items,
    Keyword::MaxContains,
    Keyword::MaxItems,
    Keyword::MinContains,
    Keyword::MinItems,
    Keyword::PrefixItems,
    Keyword::UnevaluatedItems,
    Keyword::UniqueItems,
]);
const OBJECT_KEYWORDS: KeywordSet = KeywordSet::from_list(&[
    Keyword::AdditionalProperties,
    Keyword::DependentRequired,
    Keyword::DependentSchemas,
    Keyword::MaxProperties,
    Keyword::MinProperties,
    Keyword::PatternProperties,
    Keyword::Properties,
    Keyword::PropertyNames,
    Keyword::Required,
    Keyword::UnevaluatedProperties,
]);

impl<N: LossSink> SchemaWriter<'_, N> {
    /// Writes a schema after its references are resolved and its `null` is split off.
    pub(super) fn non_null(&mut self, node: SchemaNode<'_>, null: NullEncoding) {
        static NOTHING_FITS: Value = Value::Bool(false);
        // Providers reject an empty `enum`.
        if node.list(Keyword::Enum).is_some_and(|values| !values.iter().any(|value| node.can_be(value))) {
            return self.non_null(SchemaNode::read(&NOTHING_FITS).annotated_by(&node), null);
        }
        self.json.open(b'{');
        if node.types.is_union() {
            self.by_type(&node, null);
        } else {
            self.keywords(node, null);
        }
        self.json.close(b'}');
    }

    /// Writes a list of types as one `anyOf` alternative per type: some clients reject a list.
    fn by_type(&mut self, node: &SchemaNode<'_>, null: NullEncoding) {
        self.counts.unions += 1;
        self.description(node.description, &[]);
        self.json.key("anyOf");
        self.json.open(b'[');
        for one in node.types.each() {
            let fits = |value: &Value| one.take(value);
            if node.get(Keyword::Const).is_some_and(|value| !fits(value)) {
                continue;
            }
            let values: Option<Value> =
                node.list(Keyword::Enum).map(|values| values.iter().filter(|value| fits(value)).cloned().collect());
            let mut form = node.clone();
            form.types = one;
            form.description = None;
            form.keywords =
                form.keywords.without(keywords_of_other_types(one)).without(KeywordSet::from_list(&[Keyword::Default]));
            if let Some(values) = &values {
                form.set(Keyword::Enum, values);
            }
            if !values.as_ref().and_then(Value::as_array).is_some_and(Vec::is_empty) {
                self.json.item();
                self.non_null(form, NullEncoding::No);
            }
        }
        if null == NullEncoding::Form {
            self.json.raw(",{\"type\":\"null\"}");
        }
        self.json.close(b']');
        if let Some(default) = node.get(Keyword::Default).filter(|_| self.profile.knows(Keyword::Default)) {
            self.json.key("default");
            self.json.value(default);
        }
        self.null_flag(null);
    }

    pub(super) fn description(&mut self, description: Option<&str>, sentences: &[String]) {
        if !sentences.is_empty() {
            self.json.key("description");
            self.json.text(&sentences::joined(description, sentences));
        } else if let Some(description) = description {
            self.json.key("description");
            self.json.text(description);
        }
    }

    pub(super) fn null_flag(&mut self, null: NullEncoding) {
        if null == NullEncoding::Flag {
            self.json.key("nullable");
            self.json.raw("true");
        }
    }

    /// Writes `type` and `description` first, for readability, then the other keywords in alphabetical order.
    pub(super) fn write(&mut self, node: &SchemaNode<'_>, null: NullEncoding, sentences: &[String]) {
        if !node.types.is_none() {
            self.json.key("type");
            let name = node.types.name();
            if null == NullEncoding::Type {
                self.counts.unions += 1;
                self.json.raw("[");
                self.json.text(name);
                self.json.raw(",\"null\"]");
            } else {
                self.json.raw("\"");
                self.json.raw(name);
                self.json.raw("\"");
            }
        }
        self.description(node.description, sentences);
        for keyword in node.keywords.iter() {
            let Some(value) = node.get(keyword) else { continue };
            match (keyword, value) {
                (Keyword::Properties, Value::Object(properties)) => self.properties(properties, node),
                (Keyword::Required, _) => self.required(node),
                (Keyword::Enum, Value::Array(values)) => self.values(values, node),
                (Keyword::AnyOf | Keyword::OneOf, Value::Array(forms)) => {
                    self.counts.unions += 1;
                    let has_null =
                        null == NullEncoding::Form && (keyword == Keyword::AnyOf || node.get(Keyword::AnyOf).is_none());
                    self.forms(keyword, forms.iter().filter(|form| !(node.without_null && is_null(form))), has_null);
                }
                (Keyword::AllOf | Keyword::PrefixItems, Value::Array(forms)) => self.forms(keyword, forms, false),
                (
                    Keyword::AdditionalProperties | Keyword::UnevaluatedProperties | Keyword::UnevaluatedItems,
                    Value::Bool(_),
                ) => {
                    self.json.key(keyword.text());
                    self.json.value(value);
                }
                (
                    Keyword::Items
                    | Keyword::AdditionalProperties
                    | Keyword::Contains
                    | Keyword::PropertyNames
                    | Keyword::Not
                    | Keyword::If
                    | Keyword::Then
                    | Keyword::Else,
                    schema,
                ) => self.below(keyword, schema),
                (Keyword::PatternProperties | Keyword::DependentSchemas, Value::Object(schemas)) => {
                    self.json.key(keyword.text());
                    self.json.open(b'{');
                    for (name, schema) in sorted(schemas) {
                        self.json.name(name);
                        self.inside(SchemaStep::Same, |writer| writer.schema(schema, false));
                    }
                    self.json.close(b'}');
                }
                // Nested definitions are never referenced; those of the tool are written at its end.
                (Keyword::Defs, _) => {}
                (_, value) => {
                    self.json.key(keyword.text());
                    self.json.value(value);
                }
            }
        }
        self.null_flag(null);
    }

    fn below(&mut self, keyword: Keyword, schema: &Value) {
        self.json.key(keyword.text());
        let step = match keyword {
            Keyword::Items => SchemaStep::Items,
            Keyword::AdditionalProperties => SchemaStep::Values,
            _ => SchemaStep::Same,
        };
        self.inside(step, |writer| writer.schema(schema, false));
    }

    fn inside(&mut self, step: SchemaStep<'_>, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        self.notes.enter(step);
        write(self);
        self.notes.leave();
        self.depth -= 1;
    }

    fn forms<'v>(&mut self, keyword: Keyword, forms: impl IntoIterator<Item = &'v Value>, with_null: bool) {
        self.json.key(keyword.text());
        self.json.open(b'[');
        for form in forms {
            self.json.item();
            self.notes.enter(SchemaStep::Same);
            self.schema(form, false);
            self.notes.leave();
        }
        if with_null {
            self.json.item();
            self.json.raw("{\"type\":\"null\"}");
        }
        self.json.close(b']');
    }

    fn properties(&mut self, properties: &Map<String, Value>, node: &SchemaNode<'_>) {
        self.json.key("properties");
        self.json.open(b'{');
        self.counts.properties += properties.len();
        for (name, schema) in sorted(properties) {
            let optional = !node.requires(name);
            self.counts.optional += usize::from(optional);
            self.json.name(name);
            self.inside(SchemaStep::Property(name), |writer| writer.schema(schema, optional));
        }
        self.json.close(b'}');
    }

    fn required(&mut self, node: &SchemaNode<'_>) {
        self.json.key("required");
        self.json.open(b'[');
        if self.profile.optional == OptionalStyle::Null {
            for (name, _) in node.map(Keyword::Properties).into_iter().flat_map(sorted) {
                self.json.item();
                self.json.text(name);
            }
        } else {
            for name in node.list(Keyword::Required).unwrap_or_default().iter().filter_map(Value::as_str) {
                self.json.item();
                self.json.text(name);
            }
        }
        self.json.close(b']');
    }

    /// Writes the `enum` values, without those that contradict the schema's type.
    fn values(&mut self, values: &[Value], node: &SchemaNode<'_>) {
        self.json.key("enum");
        self.json.open(b'[');
        for value in values.iter().filter(|value| node.can_be(value)) {
            self.counts.enum_values += 1;
            self.json.item();
            self.json.value(value);
        }
        self.json.close(b']');
    }
}

/// Returns the keywords that do not apply to this type.
fn keywords_of_other_types(one: TypeSet) -> KeywordSet {
    let kinds = [
        (TypeSet::STRING, STRING_KEYWORDS),
        (TypeSet::INTEGER.or(TypeSet::NUMBER), NUMBER_KEYWORDS),
        (TypeSet::ARRAY, ARRAY_KEYWORDS),
        (TypeSet::OBJECT, OBJECT_KEYWORDS),
    ];
    let others = kinds.into_iter().filter(|(types, _)| !types.has(one));
    others.fold(KeywordSet::default(), |all, (_, keywords)| all.or(keywords))
}

/// Returns the entries of an object sorted by name. serde_json's maps are sorted unless a crate enables
/// `preserve_order`.
fn sorted(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let is_sorted = map.keys().is_sorted();
    let mut entries: Vec<(&String, &Value)> = if is_sorted { Vec::new() } else { map.iter().collect() };
    entries.sort_unstable_by_key(|(name, _)| *name);
    let direct = is_sorted.then(|| map.iter()).into_iter().flatten();
    direct.chain(entries)
}
