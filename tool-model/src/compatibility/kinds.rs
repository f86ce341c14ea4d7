//! Which JSON types a schema can accept.
//!
//! Here `integer` stands for the whole numbers and `number` for the others, so that sets can be compared.

use serde_json::Value;

use crate::validate::schema::{Definitions, JsonTypes, Schema};

/// How far references and alternatives are followed; beyond, everything is taken to be possible.
const DEEPEST: u32 = 16;

/// The schema's word `number` includes the whole numbers.
pub(super) fn with_whole_numbers(kinds: JsonTypes) -> JsonTypes {
    if kinds.has(JsonTypes::NUMBER) { kinds.with(JsonTypes::INTEGER) } else { kinds }
}

fn of(value: &Value) -> JsonTypes {
    let kinds = JsonTypes::of(value);
    if kinds.has(JsonTypes::INTEGER) { JsonTypes::INTEGER } else { kinds }
}

/// No value of another type is accepted.
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
    let listed = rules
        .allowed
        .as_ref()
        .map_or(JsonTypes::ALL, |values| values.iter().fold(JsonTypes::default(), |all, value| all.with(of(value))));
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
