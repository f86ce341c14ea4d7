//! Fits one schema to a profile: what the provider does not know is said in another way, or in words.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use tool_model::validate::describe;

use super::keyword::{Keyword, Keywords};
use super::node::Node;
use super::notes::{Loss, Notes};
use super::profile::{Null, Optional};
use super::types::Types;
use super::words;
use super::write::{WithNull, Writer};

static FALSE: Value = Value::Bool(false);
static TRUE: Value = Value::Bool(true);
static NO_NAMES: Value = Value::Array(Vec::new());
static NO_PROPERTIES: LazyLock<Value> = LazyLock::new(|| json!({}));
static ZERO: LazyLock<Value> = LazyLock::new(|| json!(0));

/// What a model reads where nothing else is said: a schema without a word makes some clients drop all tools.
const ANYTHING: &str = "Any JSON value.";

/// What tells the form of a value without a `type`.
const SAYS_WHAT: Keywords =
    Keywords::of(&[Keyword::AllOf, Keyword::AnyOf, Keyword::Const, Keyword::Enum, Keyword::OneOf, Keyword::Ref]);

impl<N: Notes> Writer<'_, N> {
    /// The keywords of a schema of one type, or of none.
    pub(super) fn keywords(&mut self, node: Node<'_>, null: WithNull) {
        if node.is_any() {
            return self.any(&node, &[]);
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
        if self.profile.typed && node.types.is_none() && !node.said.meets(SAYS_WHAT) {
            return self.any(&node, &sentences);
        }
        self.write(&node, null, &sentences);
    }

    /// A value of any form.
    fn any(&mut self, node: &Node<'_>, sentences: &[String]) {
        self.description(node.description.or(Some(ANYTHING)), sentences);
        if !self.profile.typed {
            return self.annotations(node);
        }
        self.lose(Loss::Any);
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
        let excluding =
            [(Keyword::ExclusiveMinimum, Keyword::Minimum, 1), (Keyword::ExclusiveMaximum, Keyword::Maximum, -1)];
        let mut bounds = Vec::new();
        if node.types == Types::INTEGER {
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

    /// Formats of machine numbers flood clients with warnings; that a number is unsigned is said by its least value.
    fn number_format(&mut self, node: &mut Node<'_>) {
        let Some(format) = node.get(Keyword::Format).and_then(Value::as_str) else { return };
        let is_unsigned = format.starts_with("uint");
        if is_unsigned || format.starts_with("int") || matches!(format, "float" | "double") {
            node.remove(Keyword::Format);
            if is_unsigned && node.get(Keyword::Minimum).is_none() {
                node.set(Keyword::Minimum, &ZERO);
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
        } else if !ends {
            // What follows is what `items` says, or anything.
            return node.get(Keyword::Items).is_none().then_some(Value::Bool(true));
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
        let has_patterns = node.get(Keyword::PatternProperties).is_some();
        let is_map = has_patterns || (is_open && (others.is_some() || properties == 0));
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
            if !is_open && !is_map && properties == 0 {
                sentences.push("It has no keys.".to_owned());
                self.lose(Loss::Moved(Keyword::AdditionalProperties));
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
        if self.profile.optional == Optional::Null && node.get(Keyword::Required).is_none() {
            node.set(Keyword::Required, &NO_NAMES);
        } else if self.profile.optional != Optional::Null && node.get(Keyword::Required) == Some(&NO_NAMES) {
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
        for (least, most, noun) in words::RANGES {
            self.move_range(node, least, most, noun, sentences);
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

    /// Two bounds of one thing, as one sentence.
    fn move_range(
        &mut self,
        node: &mut Node<'_>,
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
        sentences.push(words::range(low, high, noun));
        for keyword in [least, most] {
            node.remove(keyword);
            self.lose(Loss::Moved(keyword));
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
}
