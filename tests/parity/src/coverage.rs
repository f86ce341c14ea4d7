//! How much of what a manifest can say is said by a random one.

use crate::compare::entries;

/// What a rich manifest contains: a text of the entries, and how many of a thousand tools have it at least.
const FEATURES: &[(&str, usize)] = &[
    ("\"arguments\": {}", 50),
    ("\"$defs\"", 250),
    ("\"$ref\"", 250),
    ("\"oneOf\"", 100),
    ("\"anyOf\"", 100),
    ("\"enum\"", 100),
    ("\"const\"", 80),
    ("\"default\"", 100),
    ("\"format\"", 100),
    ("\"pattern\"", 8),
    ("\"minimum\"", 200),
    ("\"maximum\"", 200),
    ("\"minLength\"", 30),
    ("\"minItems\"", 40),
    ("\"maxItems\"", 40),
    ("\"prefixItems\"", 40),
    ("\"uniqueItems\"", 15),
    ("\"additionalProperties\"", 100),
    ("\"patternProperties\"", 10),
    ("\"required\": false", 150),
    ("\"required\": [", 150),
    ("\"type\": \"any\"", 70),
    ("\"type\": \"null\"", 50),
    ("\"returns\"", 200),
    ("\"writeOnly\"", 10),
    ("\"tags\"", 40),
    ("\"timeout_ms\"", 15),
    ("\"x-more\"", 3),
    ("\\n", 100),
    ("Returned\"", 15),
    // The second type of one name.
    ("2\": {", 1),
];

/// What a manifest has too little of, to be shown; nothing if it is rich.
#[must_use]
pub fn missing(manifest: &str) -> Vec<String> {
    let entries = entries(manifest);
    let too_few = FEATURES.iter().filter_map(|(feature, least)| {
        let count = entries.values().filter(|entry| entry.contains(feature)).count();
        let wanted = (least * entries.len()).div_ceil(1000);
        (count < wanted).then(|| format!("{feature} in {count} of {} tools, not in {wanted}", entries.len()))
    });
    too_few.collect()
}
