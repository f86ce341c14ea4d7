//! What stands between the braces of one schema.

use serde_json::{Map, Value, json};
use tool_model::validate::describe;

use super::keyword::{Keyword, Keywords};
use super::node::{Node, is_null};
use super::notes::{Loss, Notes, Step};
use super::profile::{Null, Optional};
use super::types::Types;
use super::words;
use super::write::{WithNull, Writer};

static FALSE: Value = Value::Bool(false);
static TRUE: Value = Value::Bool(true);
static NO_NAMES: Value = Value::Array(Vec::new());

/// What a model reads where nothing else is said: a schema without a word makes some clients drop all tools.
const ANYTHING: &str = "Any JSON value.";

const OF_TEXTS: Keywords =
    Keywords::of(&[Keyword::Format, Keyword::MaxLength, Keyword::MinLength, Keyword::Pattern]);
const OF_NUMBERS: Keywords = Keywords::of(&[
    Keyword::ExclusiveMaximum,
    Keyword::ExclusiveMinimum,
    Keyword::Maximum,
    Keyword::Minimum,
    Keyword::MultipleOf,
]);
const OF_LISTS: Keywords = Keywords::of(&[
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
const OF_OBJECTS: Keywords = Keywords::of(&[
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

impl<N: Notes> Writer<'_, N> {
    /// A schema whose references are followed and whose `null` is apart.
    pub(super) fn alone(&mut self, node: Node<'_>, null: WithNull) {
        self.json.open(b'{');
        if node.types.is_several() {
            self.by_type(&node, null);
        } else {
            self.keywords(node, null);
        }
        self.json.close(b'}');
    }

    /// A list of types as a form for each: some clients refuse the list.
    fn by_type(&mut self, node: &Node<'_>, null: WithNull) {
        self.counts.unions += 1;
        self.description(node.description, &[]);
        self.json.key("anyOf");
        self.json.open(b'[');
        for one in node.types.each() {
            let fits = |value: &Value| {
                let of_value = Types::of_value(value);
                of_value == one || (one == Types::NUMBER && of_value == Types::INTEGER)
            };
            if node.get(Keyword::Const).is_some_and(|value| !fits(value)) {
                continue;
            }
            let values: Option<Value> =
                node.list(Keyword::Enum).map(|values| values.iter().filter(|value| fits(value)).cloned().collect());
            let mut form = node.clone();
            form.types = one;
            form.description = None;
            form.said = form.said.without(of_other_types(one)).without(Keywords::of(&[Keyword::Default]));
            if let Some(values) = &values {
                form.set(Keyword::Enum, values);
            }
            if *values.as_ref().unwrap_or(&TRUE) != NO_NAMES {
                self.json.item();
                self.alone(form, WithNull::No);
            }
        }
        if null == WithNull::Form {
            self.json.raw(",{\"type\":\"null\"}");
        }
        self.json.close(b']');
        if let Some(default) = node.get(Keyword::Default).filter(|_| self.profile.knows(Keyword::Default)) {
            self.json.key("default");
            self.json.value(default);
        }
        self.null_flag(null);
    }

    /// The keywords of a schema of one type, or of none.
    pub(super) fn keywords(&mut self, node: Node<'_>, null: WithNull) {
        if node.is_any() {
            return self.any(&node);
        }
        // From here on it also borrows what is made below.
        let mut node = node;
        let mut sentences = Vec::new();
        let bounds = self.whole_bounds(&node);
        bounds.iter().for_each(|(keyword, value)| node.set(*keyword, value));
        self.number_format(&mut node);
        let items = self.tuple(&mut node, &mut sentences);
        items.iter().for_each(|items| node.set(Keyword::Items, items));
        if node.types == Types::ARRAY && node.get(Keyword::Items).is_none() {
            node.set(Keyword::Items, &TRUE);
        }
        if node.types == Types::OBJECT {
            self.object(&mut node, &mut sentences);
        }
        if !self.profile.knows(Keyword::OneOf)
            && let (Some(forms), None) = (node.get(Keyword::OneOf), node.get(Keyword::AnyOf))
        {
            node.remove(Keyword::OneOf);
            node.set(Keyword::AnyOf, forms);
        }
        let only = self.single_value(&node);
        if let Some(only) = &only {
            node.remove(Keyword::Const);
            node.set(Keyword::Enum, only);
        }
        self.move_into_words(&mut node, &mut sentences);
        self.write(&node, null, &sentences);
    }

    /// A value of any form.
    fn any(&mut self, node: &Node<'_>) {
        if !self.profile.typed {
            self.json.key("description");
            self.json.text(node.description.unwrap_or(ANYTHING));
            return self.annotations(node);
        }
        self.lose(Loss::Any);
        self.description(node.description.or(Some(ANYTHING)), &[]);
        // Every schema needs a type: the forms that values have, with lists of the simple ones.
        let simple = r#"{"type":"string"},{"type":"number"},{"type":"boolean"}"#;
        self.json.key("anyOf");
        self.json.raw(&format!(
            r#"[{simple},{{"type":"object"}},{{"type":"array","items":{{"anyOf":[{simple},{{"type":"object"}}]}}}}]"#
        ));
        self.null_flag(if self.profile.null == Null::Flag { WithNull::Flag } else { WithNull::No });
    }

    fn annotations(&mut self, node: &Node<'_>) {
        for keyword in [Keyword::Default, Keyword::Examples] {
            if let Some(value) = node.get(keyword).filter(|_| self.profile.knows(keyword)) {
                self.json.key(keyword.text());
                self.json.value(value);
            }
        }
    }

    /// Bounds that exclude a whole number include its neighbour; a provider without the one knows the other.
    fn whole_bounds(&self, node: &Node<'_>) -> Vec<(Keyword, Value)> {
        let excluding = [
            (Keyword::ExclusiveMinimum, Keyword::Minimum, 1),
            (Keyword::ExclusiveMaximum, Keyword::Maximum, -1),
        ];
        let mut bounds = Vec::new();
        if node.types == Types::INTEGER {
            for (keyword, other, step) in excluding.into_iter().filter(|(keyword, ..)| !self.profile.knows(*keyword)) {
                let bound = node.get(keyword).and_then(Value::as_i64).and_then(|bound| bound.checked_add(step));
                if let Some(bound) = bound.filter(|_| self.profile.knows(other) && node.get(other).is_none()) {
                    bounds.push((other, json!(bound)));
                }
            }
        }
        bounds
    }

    /// Formats of machine numbers flood clients with warnings; that a number is unsigned is said by its least value.
    fn number_format(&mut self, node: &mut Node<'_>) {
        static LEAST: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| json!(0));
        let Some(format) = node.get(Keyword::Format).and_then(Value::as_str) else { return };
        let is_unsigned = format.starts_with("uint");
        if is_unsigned || format.starts_with("int") || matches!(format, "float" | "double") {
            node.remove(Keyword::Format);
            if is_unsigned && node.get(Keyword::Minimum).is_none() {
                node.set(Keyword::Minimum, &LEAST);
            }
        }
    }

    /// Items each at its place. Providers ask for `items`, too: it says what any of them is.
    fn tuple(&mut self, node: &mut Node<'_>, sentences: &mut Vec<String>) -> Option<Value> {
        let places = node.list(Keyword::PrefixItems)?;
        let mut kinds: Vec<&Value> = Vec::new();
        for place in places {
            if !kinds.contains(&place) {
                kinds.push(place);
            }
        }
        let ends = node.integer(Keyword::MaxItems) == Some(places.len() as u64);
        if !ends && let Some(more) = node.get(Keyword::Items) {
            kinds.push(more);
        }
        if kinds.len() == 1 && ends {
            node.remove(Keyword::PrefixItems);
        } else if !self.profile.knows(Keyword::PrefixItems) {
            let all = self.definitions.all;
            let places: Vec<String> = places.iter().map(|place| describe(place, all)).collect();
            sentences.push(format!("In this order: {}.", places.join("; ")));
            node.remove(Keyword::PrefixItems);
            self.lose(Loss::Tuple);
        } else if !ends && node.get(Keyword::Items).is_some() {
            return None;
        }
        Some(match kinds[..] {
            [] => Value::Bool(true),
            [one] => one.clone(),
            ref several => json!({"anyOf": several}),
        })
    }

    /// Whether an object has other keys than its properties, and how that is said.
    fn object(&mut self, node: &mut Node<'_>, sentences: &mut Vec<String>) {
        let properties = node.map(Keyword::Properties).map_or(0, Map::len);
        let others = node.get(Keyword::AdditionalProperties);
        let is_open = match others {
            Some(Value::Bool(false)) => false,
            Some(Value::Bool(true)) => true,
            Some(schema) => !Node::read(schema).is_any() || properties == 0,
            None => properties == 0,
        };
        let is_map = is_open && (others.is_some() || properties == 0);
        // That there may be more is what an object says by itself.
        if others.is_some_and(|others| others == &TRUE || Node::read(others).is_any() && others != &FALSE) {
            node.remove(Keyword::AdditionalProperties);
        }
        if self.profile.typed && is_map {
            self.lose(Loss::Map);
            let all = self.definitions.all;
            sentences.extend(
                node.get(Keyword::AdditionalProperties)
                    .filter(|others| others.is_object())
                    .map(|others| format!("Its keys are free; each value is {}.", describe(others, all))),
            );
        }
        if !self.profile.knows(Keyword::AdditionalProperties) {
            node.remove(Keyword::AdditionalProperties);
        }
        if self.profile.closed {
            node.set(Keyword::AdditionalProperties, &FALSE);
            if properties == 0 {
                static NOTHING: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| json!({}));
                node.set(Keyword::Properties, &NOTHING);
            }
        } else if properties == 0 && node.get(Keyword::Properties).is_some() && self.profile.typed {
            node.remove(Keyword::Properties);
        }
        if self.profile.optional == Optional::Null {
            node.set(Keyword::Required, &NO_NAMES);
        } else if node.get(Keyword::Required) == Some(&NO_NAMES) {
            node.remove(Keyword::Required);
        }
    }

    /// A single value as a list of one, where `const` is not known.
    fn single_value(&self, node: &Node<'_>) -> Option<Value> {
        let value = node.get(Keyword::Const).filter(|_| !self.profile.knows(Keyword::Const))?;
        (node.get(Keyword::Enum).is_none()).then(|| Value::Array(vec![value.clone()]))
    }

    /// What the provider does not know goes into the description, if it demands something.
    fn move_into_words(&mut self, node: &mut Node<'_>, sentences: &mut Vec<String>) {
        if self.profile.text_enums && node.types != Types::STRING {
            self.move_one(node, Keyword::Enum, sentences);
        }
        let least_items = node.integer(Keyword::MinItems);
        if least_items.is_some_and(|least| least > self.profile.most_min_items) {
            self.move_one(node, Keyword::MinItems, sentences);
        }
        let text = |node: &Node<'_>, keyword| node.get(keyword).and_then(Value::as_str).map(str::to_owned);
        if self.profile.formats.is_some()
            && text(node, Keyword::Format).is_some_and(|format| !self.profile.knows_format(&format))
        {
            self.move_one(node, Keyword::Format, sentences);
        }
        if text(node, Keyword::Pattern).is_some_and(|pattern| !self.profile.knows_pattern(&pattern)) {
            self.move_one(node, Keyword::Pattern, sentences);
        }
        for keyword in node.said.without(self.profile.keywords).iter() {
            let has_neighbour = match keyword {
                Keyword::ExclusiveMinimum => node.types == Types::INTEGER && self.profile.knows(Keyword::Minimum),
                Keyword::ExclusiveMaximum => node.types == Types::INTEGER && self.profile.knows(Keyword::Maximum),
                _ => false,
            };
            if has_neighbour {
                node.remove(keyword);
            } else {
                self.move_one(node, keyword, sentences);
            }
        }
    }

    fn move_one(&mut self, node: &mut Node<'_>, keyword: Keyword, sentences: &mut Vec<String>) {
        let Some(value) = node.get(keyword) else { return };
        node.remove(keyword);
        if let Some(sentence) = words::sentence(keyword, value) {
            sentences.push(sentence);
            self.lose(Loss::Moved(keyword));
        }
    }

    fn description(&mut self, description: Option<&str>, sentences: &[String]) {
        if !sentences.is_empty() {
            self.json.key("description");
            self.json.text(&words::joined(description, sentences));
        } else if let Some(description) = description {
            self.json.key("description");
            self.json.text(description);
        }
    }

    fn null_flag(&mut self, null: WithNull) {
        if null == WithNull::Flag {
            self.json.key("nullable");
            self.json.raw("true");
        }
    }

    /// `type` and `description` first, for whoever reads it, then the rest in the order of the keys.
    fn write(&mut self, node: &Node<'_>, null: WithNull, sentences: &[String]) {
        if !node.types.is_none() {
            self.json.key("type");
            let name = node.types.name();
            if null == WithNull::Type {
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
        for keyword in node.said.iter() {
            let Some(value) = node.get(keyword) else { continue };
            match (keyword, value) {
                (Keyword::Properties, Value::Object(properties)) => self.properties(properties, node),
                (Keyword::Required, _) => self.required(node),
                (Keyword::Enum, Value::Array(values)) => self.values(values, node),
                (Keyword::AnyOf | Keyword::OneOf, Value::Array(forms)) => {
                    self.counts.unions += 1;
                    let has_null = null == WithNull::Form && (keyword == Keyword::AnyOf || node.get(Keyword::AnyOf).is_none());
                    self.forms(keyword, forms.iter().filter(|form| !(node.without_null && is_null(form))), has_null);
                }
                (Keyword::AllOf | Keyword::PrefixItems, Value::Array(forms)) => self.forms(keyword, forms, false),
                (Keyword::AdditionalProperties | Keyword::UnevaluatedProperties | Keyword::UnevaluatedItems, Value::Bool(_)) => {
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
                        self.inside(Step::Same, |writer| writer.schema(schema, false));
                    }
                    self.json.close(b'}');
                }
                // Definitions inside of a schema are not referred to; those of the tool are written at its end.
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
            Keyword::Items => Step::Items,
            Keyword::AdditionalProperties => Step::Values,
            _ => Step::Same,
        };
        self.inside(step, |writer| writer.schema(schema, false));
    }

    fn inside(&mut self, step: Step<'_>, write: impl FnOnce(&mut Self)) {
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
            self.notes.enter(Step::Same);
            self.schema(form, false);
            self.notes.leave();
        }
        if with_null {
            self.json.item();
            self.json.raw("{\"type\":\"null\"}");
        }
        self.json.close(b']');
    }

    fn properties(&mut self, properties: &Map<String, Value>, node: &Node<'_>) {
        self.json.key("properties");
        self.json.open(b'{');
        self.counts.properties += properties.len();
        for (name, schema) in sorted(properties) {
            let optional = !node.requires(name);
            self.counts.optional += usize::from(optional);
            self.json.name(name);
            self.inside(Step::Property(name), |writer| writer.schema(schema, optional));
        }
        self.json.close(b'}');
    }

    fn required(&mut self, node: &Node<'_>) {
        self.json.key("required");
        self.json.open(b'[');
        if self.profile.optional == Optional::Null {
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

    fn values(&mut self, values: &[Value], node: &Node<'_>) {
        self.counts.enum_values += values.len();
        self.json.key("enum");
        self.json.open(b'[');
        for value in values.iter().filter(|value| !(node.without_null && value.is_null())) {
            self.json.item();
            self.json.value(value);
        }
        self.json.close(b']');
    }
}

/// The keywords that say nothing of a value of this type.
fn of_other_types(one: Types) -> Keywords {
    let kinds = [
        (Types::STRING, OF_TEXTS),
        (Types::INTEGER.or(Types::NUMBER), OF_NUMBERS),
        (Types::ARRAY, OF_LISTS),
        (Types::OBJECT, OF_OBJECTS),
    ];
    let others = kinds.into_iter().filter(|(types, _)| !types.has(one));
    others.fold(Keywords::default(), |all, (_, keywords)| all.or(keywords))
}

/// The entries of an object by name. serde_json sorts them itself unless some crate has switched that off.
fn sorted(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let is_sorted = map.keys().is_sorted();
    let mut entries: Vec<(&String, &Value)> = if is_sorted { Vec::new() } else { map.iter().collect() };
    entries.sort_unstable_by_key(|(name, _)| *name);
    let direct = is_sorted.then(|| map.iter()).into_iter().flatten();
    direct.chain(entries)
}
