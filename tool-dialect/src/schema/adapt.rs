//! Adapts one schema to a profile: rewrites unsupported keywords, or moves them into the description.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use tool_model::validate::describe;

use super::keyword::{Keyword, KeywordSet};
use super::losses::{LossSink, SchemaLoss};
use super::node::SchemaNode;
use super::profile::{NullStyle, OptionalStyle};
use super::sentences;
use super::type_set::TypeSet;
use super::writer::{NullEncoding, SchemaWriter};

static FALSE: Value = Value::Bool(false);
static TRUE: Value = Value::Bool(true);
static NO_NAMES: Value = Value::Array(Vec::new());
static NO_PROPERTIES: LazyLock<Value> = LazyLock::new(|| json!({}));
static ZERO: LazyLock<Value> = LazyLock::new(|| json!(0));

/// The description of an unconstrained value. Some clients drop all tools if a schema is empty.
const ANYTHING: &str = "Any JSON value.";

/// The keywords that define a value without `type`.
const SHAPE_KEYWORDS: KeywordSet = KeywordSet::from_list(&[
    Keyword::AllOf,
    Keyword::AnyOf,
    Keyword::Const,
    Keyword::Enum,
    Keyword::OneOf,
    Keyword::Ref,
]);

impl<N: LossSink> SchemaWriter<'_, N> {
    /// Writes the keywords of a schema with at most one type.
    pub(super) fn keywords(&mut self, node: SchemaNode<'_>, null: NullEncoding) {
        if node.is_any() {
            return self.any(&node, &[]);
        }
        // Shortens the lifetime, so that the node can borrow the values below.
        let mut node = node;
        let mut sentences = Vec::new();
        let bounds = self.whole_bounds(&node);
        bounds.iter().for_each(|(keyword, value)| node.set(*keyword, value));
        self.number_format(&mut node);
        let items = self.tuple(&mut node, &mut sentences);
        items.iter().for_each(|items| node.set(Keyword::Items, items));
        if node.types == TypeSet::ARRAY && node.get(Keyword::Items).is_none() {
            node.set(Keyword::Items, &TRUE);
        }
        if node.types == TypeSet::OBJECT {
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
        self.move_to_description(&mut node, &mut sentences);
        if self.profile.typed && node.types.is_none() && !node.keywords.intersects(SHAPE_KEYWORDS) {
            return self.any(&node, &sentences);
        }
        self.write(&node, null, &sentences);
    }

    /// Writes a schema for any value.
    fn any(&mut self, node: &SchemaNode<'_>, sentences: &[String]) {
        self.description(node.description.or(Some(ANYTHING)), sentences);
        if !self.profile.typed {
            return self.annotations(node);
        }
        self.lose(SchemaLoss::Any);
        // Every schema needs a type, so list all types, with arrays of simple values.
        let simple = r#"{"type":"string"},{"type":"number"},{"type":"boolean"}"#;
        self.json.key("anyOf");
        self.json.raw(&format!(
            r#"[{simple},{{"type":"object"}},{{"type":"array","items":{{"anyOf":[{simple},{{"type":"object"}}]}}}}]"#
        ));
        self.null_flag(if self.profile.null == NullStyle::Flag { NullEncoding::Flag } else { NullEncoding::No });
    }

    fn annotations(&mut self, node: &SchemaNode<'_>) {
        for keyword in [Keyword::Default, Keyword::Examples] {
            if let Some(value) = node.get(keyword).filter(|_| self.profile.knows(keyword)) {
                self.json.key(keyword.text());
                self.json.value(value);
            }
        }
    }

    /// Converts exclusive bounds of integers to inclusive ones, if the provider only supports those.
    fn whole_bounds(&self, node: &SchemaNode<'_>) -> Vec<(Keyword, Value)> {
        let excluding =
            [(Keyword::ExclusiveMinimum, Keyword::Minimum, 1), (Keyword::ExclusiveMaximum, Keyword::Maximum, -1)];
        let mut bounds = Vec::new();
        if node.types == TypeSet::INTEGER {
            for (keyword, other, step) in excluding.into_iter().filter(|(keyword, ..)| !self.profile.knows(*keyword)) {
                let bound = node.get(keyword).and_then(Value::as_i64).and_then(|bound| bound.checked_add(step));
                let known = node.get(other).and_then(Value::as_f64);
                let is_tighter = |bound: &i64| known.is_none_or(|known| (*bound as f64 - known) * step as f64 > 0.0);
                if let Some(bound) = bound.filter(|bound| self.profile.knows(other) && is_tighter(bound)) {
                    bounds.push((other, json!(bound)));
                }
            }
        }
        bounds
    }

    /// Removes the formats of machine numbers, which cause client warnings. An unsigned number gets a minimum of 0
    /// instead.
    fn number_format(&mut self, node: &mut SchemaNode<'_>) {
        let Some(format) = node.get(Keyword::Format).and_then(Value::as_str) else { return };
        let is_unsigned = format.starts_with("uint");
        if is_unsigned || format.starts_with("int") || matches!(format, "float" | "double") {
            node.remove(Keyword::Format);
            if is_unsigned && node.get(Keyword::Minimum).is_none() {
                node.set(Keyword::Minimum, &ZERO);
            }
        }
    }

    /// Adapts a tuple and returns its `items`, which providers require: the alternatives of all positions.
    fn tuple(&mut self, node: &mut SchemaNode<'_>, sentences: &mut Vec<String>) -> Option<Value> {
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
            self.lose(SchemaLoss::Tuple);
        } else if !ends {
            // Further items are described by `items`, or are unconstrained.
            return node.get(Keyword::Items).is_none().then_some(Value::Bool(true));
        }
        Some(match kinds[..] {
            [] => Value::Bool(true),
            [one] => one.clone(),
            ref several => json!({"anyOf": several}),
        })
    }

    /// Adapts `additionalProperties`, `properties` and `required` of an object.
    fn object(&mut self, node: &mut SchemaNode<'_>, sentences: &mut Vec<String>) {
        let properties = node.map(Keyword::Properties).map_or(0, Map::len);
        let others = node.get(Keyword::AdditionalProperties);
        let is_open = match others {
            Some(Value::Bool(false)) => false,
            Some(Value::Bool(true)) => true,
            Some(schema) => !SchemaNode::read(schema).is_any() || properties == 0,
            None => properties == 0,
        };
        let has_patterns = node.get(Keyword::PatternProperties).is_some();
        let is_map = has_patterns || (is_open && (others.is_some() || properties == 0));
        // Objects allow additional properties by default.
        if others.is_some_and(|others| others == &TRUE || SchemaNode::read(others).is_any() && others != &FALSE) {
            node.remove(Keyword::AdditionalProperties);
        }
        if self.profile.typed && is_map {
            self.lose(SchemaLoss::Map);
            let all = self.definitions.all;
            sentences.extend(
                node.get(Keyword::AdditionalProperties)
                    .filter(|others| others.is_object())
                    .map(|others| format!("Its keys are free; each value is {}.", describe(others, all))),
            );
        }
        if !self.profile.knows(Keyword::AdditionalProperties) {
            node.remove(Keyword::AdditionalProperties);
            if !is_open && !is_map && properties == 0 {
                sentences.push("It has no keys.".to_owned());
                self.lose(SchemaLoss::Moved(Keyword::AdditionalProperties));
            }
        }
        if self.profile.closed {
            node.set(Keyword::AdditionalProperties, &FALSE);
            if properties == 0 {
                node.set(Keyword::Properties, &NO_PROPERTIES);
            }
        } else if properties == 0 && node.get(Keyword::Properties).is_some() && self.profile.typed {
            node.remove(Keyword::Properties);
        }
        if self.profile.optional == OptionalStyle::Null && node.get(Keyword::Required).is_none() {
            node.set(Keyword::Required, &NO_NAMES);
        } else if self.profile.optional != OptionalStyle::Null && node.get(Keyword::Required) == Some(&NO_NAMES) {
            node.remove(Keyword::Required);
        }
    }

    /// Converts `const` to an `enum` of one value, if `const` is not supported.
    fn single_value(&self, node: &SchemaNode<'_>) -> Option<Value> {
        let value = node.get(Keyword::Const).filter(|_| !self.profile.knows(Keyword::Const))?;
        (node.get(Keyword::Enum).is_none()).then(|| Value::Array(vec![value.clone()]))
    }

    /// Moves unsupported constraints into the description.
    fn move_to_description(&mut self, node: &mut SchemaNode<'_>, sentences: &mut Vec<String>) {
        if self.profile.text_enums && node.types != TypeSet::STRING {
            self.move_one(node, Keyword::Enum, sentences);
        }
        for (least, most, noun) in sentences::RANGES {
            self.move_range(node, least, most, noun, sentences);
        }
        let least_items = node.integer(Keyword::MinItems);
        if least_items.is_some_and(|least| least > self.profile.most_min_items) {
            self.move_one(node, Keyword::MinItems, sentences);
        }
        let text = |node: &SchemaNode<'_>, keyword| node.get(keyword).and_then(Value::as_str).map(str::to_owned);
        if self.profile.formats.is_some()
            && text(node, Keyword::Format).is_some_and(|format| !self.profile.knows_format(&format))
        {
            self.move_one(node, Keyword::Format, sentences);
        }
        if text(node, Keyword::Pattern).is_some_and(|pattern| !self.profile.knows_pattern(&pattern)) {
            self.move_one(node, Keyword::Pattern, sentences);
        }
        for keyword in node.keywords.without(self.profile.keywords).iter() {
            let has_neighbour = match keyword {
                Keyword::ExclusiveMinimum => node.types == TypeSet::INTEGER && self.profile.knows(Keyword::Minimum),
                Keyword::ExclusiveMaximum => node.types == TypeSet::INTEGER && self.profile.knows(Keyword::Maximum),
                _ => false,
            };
            if has_neighbour {
                node.remove(keyword);
            } else {
                self.move_one(node, keyword, sentences);
            }
        }
    }

    /// Moves a pair of bounds into the description as one sentence.
    fn move_range(
        &mut self,
        node: &mut SchemaNode<'_>,
        least: Keyword,
        most: Keyword,
        noun: &str,
        sentences: &mut Vec<String>,
    ) {
        let (Some(low), Some(high)) = (node.get(least), node.get(most)) else { return };
        let knows_least = self.profile.knows(least)
            && !(least == Keyword::MinItems && low.as_u64().is_some_and(|low| low > self.profile.most_min_items));
        if knows_least || self.profile.knows(most) {
            return;
        }
        sentences.push(sentences::range(low, high, noun));
        for keyword in [least, most] {
            node.remove(keyword);
            self.lose(SchemaLoss::Moved(keyword));
        }
    }

    fn move_one(&mut self, node: &mut SchemaNode<'_>, keyword: Keyword, sentences: &mut Vec<String>) {
        let Some(value) = node.get(keyword) else { return };
        node.remove(keyword);
        if let Some(sentence) = sentences::sentence(keyword, value) {
            sentences.push(sentence);
            self.lose(SchemaLoss::Moved(keyword));
        }
    }
}
