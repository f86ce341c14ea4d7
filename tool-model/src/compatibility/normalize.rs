//! Normalization of schemas that can be written in several ways.
//!
//! Every rewriting is exact: the schema accepts the same values before and after.
//! * Parts of an `allOf`, and the only part of an `anyOf` or `oneOf`, are merged into the enclosing schema.
//! * A list of types becomes an `anyOf` with one alternative for each type.
//! * Alternatives that list values become one list, and an `anyOf` inside an `anyOf` becomes part of it.
//! * The bounds of integers are inclusive integers.

use std::mem::take;

use serde_json::Value;

use super::facts::SourceFacts;
use super::kinds::with_whole_numbers;
use crate::validate::equality::equal;
use crate::validate::expectation::CountRange;
use crate::validate::number::ExactNumber;
use crate::validate::read::ParsedSchema;
use crate::validate::schema::{
    ArrayRules, JsonTypes, NumberLimit, NumberRules, ObjectRules, Schema, SchemaRules, TextRules,
};

/// Normalizes a schema and its definitions.
pub(super) fn normalize(reading: &mut ParsedSchema) {
    rewrite(&mut reading.schema);
    reading.definitions.values_mut().for_each(rewrite);
}

fn rewrite(schema: &mut Schema) {
    let Schema::Rules(rules) = schema else { return };
    parts(rules).into_iter().for_each(rewrite);
    join_alternatives(rules);
    merge_parts(rules);
    bound_integers(rules);
    split_types(rules);
}

/// Returns every schema inside, for the same value or a part of it.
fn parts(rules: &mut SchemaRules) -> Vec<&mut Schema> {
    let SchemaRules { array, object, all_of, any_of, one_of, not, condition, .. } = rules;
    let mut all: Vec<&mut Schema> = Vec::new();
    all.extend(array.prefix.iter_mut().chain(&mut array.items).chain(array.contains.as_mut().map(|c| &mut c.schema)));
    all.extend(object.properties.values_mut().chain(object.patterns.iter_mut().map(|(_, schema)| schema)));
    all.extend(object.additional.iter_mut().chain(&mut object.names).chain(object.dependent_schemas.values_mut()));
    all.extend(all_of.iter_mut().chain(any_of).chain(one_of).chain(not));
    if let Some(condition) = condition {
        all.push(&mut condition.when);
        all.extend(condition.then.iter_mut().chain(&mut condition.otherwise));
    }
    all
}

/// Makes one list of nested alternatives, and one alternative of those that list values.
fn join_alternatives(rules: &mut SchemaRules) {
    let mut flat = Vec::new();
    for part in take(&mut rules.any_of) {
        match part {
            Schema::Rules(mut inner) if inner.kinds.is_none() && inner.only_alternatives().is_some() => {
                let alternatives = take(&mut inner.any_of);
                if alternatives.is_empty() {
                    flat.push(Schema::Rules(inner));
                } else {
                    flat.extend(alternatives);
                }
            }
            part => flat.push(part),
        }
    }
    // If one alternative accepts any value, the others add nothing.
    if !flat.iter().any(is_anything) {
        rules.any_of = join_values(flat, false);
    }
    rules.one_of = join_values(take(&mut rules.one_of), true);
}

fn is_anything(schema: &Schema) -> bool {
    match schema {
        Schema::Anything => true,
        Schema::Nothing => false,
        Schema::Rules(rules) => rules.is_free(),
    }
}

/// Joins alternatives that list values. A value in two alternatives of a `oneOf` is refused, so those are kept.
fn join_values(alternatives: Vec<Schema>, distinct: bool) -> Vec<Schema> {
    let mut joined = Vec::new();
    let mut values = Vec::new();
    let mut facts = None;
    let mut first = None;
    // `null` is another value if all alternatives are values, and a type beside other types.
    let with_null = alternatives.iter().any(is_list) && alternatives.iter().all(|one| is_list(one) || is_null(one));
    for mut alternative in alternatives {
        let listed = match &mut alternative {
            Schema::Rules(rules) if is_list_of_values(rules) => {
                rules.allowed.take().map(|list| (list, rules.facts.take()))
            }
            Schema::Rules(_) if with_null => Some((vec![Value::Null], None)),
            _ => None,
        };
        match listed {
            Some((listed, own_facts))
                if !(distinct && listed.iter().any(|value| values.iter().any(|known| equal(known, value)))) =>
            {
                first.get_or_insert(joined.len());
                values.extend(listed);
                facts = SourceFacts::merge(facts, own_facts);
            }
            Some((listed, own_facts)) => joined.push(list_of(listed, own_facts)),
            None => joined.push(alternative),
        }
    }
    if let Some(first) = first {
        joined.insert(first, list_of(values, facts));
    }
    joined
}

fn is_list(schema: &Schema) -> bool {
    matches!(schema, Schema::Rules(rules) if is_list_of_values(rules))
}

fn is_null(schema: &Schema) -> bool {
    let Schema::Rules(rules) = schema else { return false };
    rules.kinds == Some(JsonTypes::NULL)
        && rules.allowed.is_none()
        && rules.reference.is_none()
        && rules.in_place().next().is_none()
}

/// Returns `true` if the schema only lists values, all of them of its type.
fn is_list_of_values(rules: &SchemaRules) -> bool {
    let is_of_type = |value| rules.kinds.is_none_or(|kinds| kinds.has(JsonTypes::from_value(value)));
    rules.allowed.as_ref().is_some_and(|allowed| allowed.iter().all(is_of_type))
        && rules.reference.is_none()
        && rules.says_nothing_itself()
        && rules.in_place().next().is_none()
}

fn list_of(values: Vec<Value>, facts: Option<Box<SourceFacts>>) -> Schema {
    Schema::Rules(Box::new(SchemaRules { allowed: Some(values), facts, ..SchemaRules::default() }))
}

/// Merges the parts of `allOf`, and single alternatives.
fn merge_parts(rules: &mut SchemaRules) {
    let mut parts = take(&mut rules.all_of);
    for alternatives in [&mut rules.any_of, &mut rules.one_of] {
        if alternatives.len() == 1 {
            parts.append(alternatives);
        }
    }
    for part in parts {
        match part {
            Schema::Anything => {}
            Schema::Nothing => rules.all_of.push(Schema::Nothing),
            Schema::Rules(part) if can_be_merged(rules, &part) => merge(rules, *part),
            part => rules.all_of.push(part),
        }
    }
}

fn common_kinds(one: Option<JsonTypes>, other: Option<JsonTypes>) -> Option<JsonTypes> {
    match (one, other) {
        (Some(one), Some(other)) => Some(by_name(with_whole_numbers(one).common(with_whole_numbers(other)))),
        (one, other) => one.or(other),
    }
}

/// Returns the types as the keyword `type` names them: `number` includes the integers.
fn by_name(kinds: JsonTypes) -> JsonTypes {
    if kinds.has(JsonTypes::NUMBER) { kinds.without(JsonTypes::INTEGER) } else { kinds }
}

fn can_be_merged(rules: &SchemaRules, part: &SchemaRules) -> bool {
    fn one_is<T>(one: &T, other: &T, is_empty: fn(&T) -> bool) -> bool {
        is_empty(one) || is_empty(other)
    }
    common_kinds(rules.kinds, part.kinds).is_none_or(|kinds| !kinds.is_empty())
        && one_is(&rules.reference, &part.reference, Option::is_none)
        && one_is(&rules.allowed, &part.allowed, Option::is_none)
        && one_is(&rules.number.multiple_of, &part.number.multiple_of, Option::is_none)
        && one_is(&rules.text.pattern, &part.text.pattern, Option::is_none)
        && one_is(&rules.text.format, &part.text.format, Option::is_none)
        && one_is(&rules.array, &part.array, ArrayRules::is_empty)
        && can_objects_be_merged(&rules.object, &part.object)
        && one_is(&rules.any_of, &part.any_of, Vec::is_empty)
        && one_is(&rules.one_of, &part.one_of, Vec::is_empty)
        && one_is(&rules.not, &part.not, Option::is_none)
        && one_is(&rules.condition, &part.condition, Option::is_none)
}

/// Returns `true` if both objects are open. A closed object would refuse the other's properties.
fn can_objects_be_merged(one: &ObjectRules, other: &ObjectRules) -> bool {
    let is_open = |rules: &ObjectRules| {
        let additional = rules.additional.as_ref();
        additional.is_none_or(is_anything) && rules.patterns.is_empty() && rules.names.is_none()
    };
    let is_dependent =
        |rules: &ObjectRules| !rules.dependent_required.is_empty() || !rules.dependent_schemas.is_empty();
    one.is_empty() || other.is_empty() || [one, other].into_iter().all(|rules| is_open(rules) && !is_dependent(rules))
}

fn merge(rules: &mut SchemaRules, part: SchemaRules) {
    rules.kinds = common_kinds(rules.kinds, part.kinds);
    rules.name = rules.name.take().or(part.name);
    rules.reference = rules.reference.take().or(part.reference);
    rules.allowed = rules.allowed.take().or(part.allowed);
    merge_numbers(&mut rules.number, &part.number);
    merge_texts(&mut rules.text, part.text);
    if rules.array.is_empty() {
        rules.array = part.array;
    }
    if rules.object.is_empty() {
        rules.object = part.object;
    } else if !part.object.is_empty() {
        merge_objects(&mut rules.object, part.object);
    }
    rules.all_of.extend(part.all_of);
    rules.any_of.extend(part.any_of);
    rules.one_of.extend(part.one_of);
    rules.not = rules.not.take().or(part.not);
    rules.condition = rules.condition.take().or(part.condition);
    rules.facts = SourceFacts::merge(rules.facts.take(), part.facts);
}

fn merge_numbers(rules: &mut NumberRules, part: &NumberRules) {
    let tighter = |one: Option<NumberLimit>,
                   other: Option<NumberLimit>,
                   is_tighter: fn(ExactNumber, ExactNumber) -> bool| match (one, other) {
        (Some(one), Some(other)) => {
            let is_other =
                is_tighter(other.value, one.value) || (other.exclusive && !is_tighter(one.value, other.value));
            Some(if is_other { other } else { one })
        }
        (one, other) => one.or(other),
    };
    rules.least = tighter(rules.least, part.least, ExactNumber::is_above);
    rules.most = tighter(rules.most, part.most, |a, b| b.is_above(a));
    rules.multiple_of = rules.multiple_of.or(part.multiple_of);
}

fn merge_texts(rules: &mut TextRules, part: TextRules) {
    rules.length = common_count(rules.length, part.length);
    rules.pattern = rules.pattern.take().or(part.pattern);
    rules.format = rules.format.or(part.format);
}

fn common_count(one: CountRange, other: CountRange) -> CountRange {
    let most = match (one.most, other.most) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    CountRange { least: one.least.max(other.least), most }
}

fn merge_objects(rules: &mut ObjectRules, part: ObjectRules) {
    rules.count = common_count(rules.count, part.count);
    for (name, other) in part.properties {
        let both = match rules.properties.remove(&name) {
            Some(one) => {
                let mut both =
                    Schema::Rules(Box::new(SchemaRules { all_of: vec![one, other], ..SchemaRules::default() }));
                rewrite(&mut both);
                both
            }
            None => other,
        };
        rules.properties.insert(name, both);
    }
    for name in part.required {
        if !rules.required.contains(&name) {
            rules.required.push(name);
        }
    }
}

/// Makes the bounds of integers inclusive: `exclusiveMinimum: 0` is `minimum: 1`.
fn bound_integers(rules: &mut SchemaRules) {
    if !rules.kinds.is_some_and(|kinds| kinds.has(JsonTypes::INTEGER) && !kinds.has(JsonTypes::NUMBER)) {
        return;
    }
    if let Some(least) = &mut rules.number.least {
        *least = least.of_integers(1);
    }
    if let Some(most) = &mut rules.number.most {
        *most = most.of_integers(-1);
    }
}

impl NumberLimit {
    /// Returns the equivalent inclusive bound for integers. `inwards` is 1 for a lower and -1 for an upper bound.
    fn of_integers(self, inwards: i128) -> Self {
        let value = match self.value {
            ExactNumber::Whole(whole) => ExactNumber::Whole(if self.exclusive { whole + inwards } else { whole }),
            ExactNumber::Float(float) => {
                match ExactNumber::from_float(if inwards > 0 { float.ceil() } else { float.floor() }) {
                    whole @ ExactNumber::Whole(_) => whole,
                    // Too large to be an integer.
                    ExactNumber::Float(_) => return self,
                }
            }
        };
        Self { value, exclusive: false }
    }
}

/// Makes one alternative of each type, unless a rule applies to several types.
fn split_types(rules: &mut SchemaRules) {
    let Some(kinds) = rules.kinds.map(by_name) else { return };
    let is_plain = rules.allowed.is_none() && rules.reference.is_none() && rules.in_place().next().is_none();
    if kinds.each().count() < 2 || !is_plain {
        return;
    }
    let SchemaRules { name, mut number, mut text, mut array, mut object, mut facts, .. } = take(rules);
    let mut rust_type = facts.as_mut().and_then(|facts| facts.rust_type.take());
    let alternative = |kind: JsonTypes| {
        let mut one = SchemaRules { kinds: Some(kind), ..SchemaRules::default() };
        match kind {
            JsonTypes::INTEGER | JsonTypes::NUMBER => one.number = take(&mut number),
            JsonTypes::STRING => one.text = take(&mut text),
            JsonTypes::ARRAY => one.array = take(&mut array),
            JsonTypes::OBJECT => {
                one.object = take(&mut object);
                one.name.clone_from(&name);
            }
            _ => {}
        }
        if matches!(kind, JsonTypes::INTEGER | JsonTypes::NUMBER | JsonTypes::STRING) {
            one.facts = rust_type
                .take()
                .map(|rust_type| Box::new(SourceFacts { rust_type: Some(rust_type), ..SourceFacts::default() }));
        }
        Schema::Rules(Box::new(one))
    };
    rules.any_of = kinds.each().map(alternative).collect();
    rules.facts = facts;
}
