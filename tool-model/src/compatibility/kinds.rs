//! The JSON types that a schema can accept.
//!
//! In this module `integer` means whole numbers and `number` means the others, so that sets can be compared.

use serde_json::Value;

use crate::validate::schema::{Definitions, JsonTypes, Schema};

/// The depth to which references and alternatives are followed. Beyond it, every type is possible.
const DEEPEST: u32 = 16;

/// Adds the whole numbers, which the keyword `number` includes.
pub(super) fn with_whole_numbers(kinds: JsonTypes) -> JsonTypes {
    if kinds.has(JsonTypes::NUMBER) { kinds.with(JsonTypes::INTEGER) } else { kinds }
}

fn kind_of(value: &Value) -> JsonTypes {
    let kinds = JsonTypes::from_value(value);
    if kinds.has(JsonTypes::INTEGER) { JsonTypes::INTEGER } else { kinds }
}

/// Returns a superset of the types that a schema accepts.
pub(super) fn possible(schema: &Schema, definitions: &Definitions) -> JsonTypes {
    look(schema, definitions, DEEPEST)
}

fn look(schema: &Schema, definitions: &Definitions, depth: u32) -> JsonTypes {
    let rules = match schema {
        Schema::Anything => return JsonTypes::ALL,
        Schema::Nothing => return JsonTypes::default(),
        Schema::Rules(_) if depth == 0 => return JsonTypes::ALL,
        Schema::Rules(rules) => rules,
    };
    let any = |schemas: &[Schema]| match schemas {
        [] => JsonTypes::ALL,
        several => several.iter().fold(JsonTypes::default(), |all, one| all.with(look(one, definitions, depth - 1))),
    };
    let own = rules.kinds.map_or(JsonTypes::ALL, with_whole_numbers);
    let listed = rules.allowed.as_ref().map_or(JsonTypes::ALL, |values| {
        values.iter().fold(JsonTypes::default(), |all, value| all.with(kind_of(value)))
    });
    let referred = rules.reference.as_ref().and_then(|name| definitions.get(name));
    let demanded = referred.into_iter().chain(&rules.all_of);
    demanded
        .map(|schema| look(schema, definitions, depth - 1))
        .fold(own.common(listed), JsonTypes::common)
        .common(any(&rules.any_of))
        .common(any(&rules.one_of))
}

/// `string or null`
pub(super) fn names(kinds: JsonTypes) -> String {
    let words = kinds.each().filter(|kind| *kind != JsonTypes::INTEGER || !kinds.has(JsonTypes::NUMBER));
    let words: Vec<_> = words
        .map(|kind| match kind {
            JsonTypes::NUMBER if !kinds.has(JsonTypes::INTEGER) => "number with a fraction",
            kind => kind.name(),
        })
        .collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "nothing".to_owned(),
    }
}
