//! Checks that random manifests contain everything that a manifest can.

use crate::compare::entries;

/// Fragments of manifest entries, and the minimum number of tools per thousand that contain them.
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
    ("\"type\": \"any\"", 45),
    ("\"type\": \"null\"", 50),
    ("\"returns\"", 200),
    ("\"writeOnly\"", 10),
    ("\"aliases\"", 60),
    ("\"tags\"", 40),
    ("\"timeout_ms\"", 15),
    ("\"x-more\"", 3),
    ("\\n", 100),
    ("Returned\"", 15),
    // The second type with the same name.
    ("2\": {", 1),
];

/// Returns a report of what a manifest contains too rarely, or `None`.
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
