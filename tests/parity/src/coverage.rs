//! How much of what a manifest can say is said.

use std::collections::BTreeMap;

/// How many tools have each feature, by a text that their entry contains.
#[must_use]
pub fn count(manifest: &tool_model::Manifest) -> BTreeMap<&'static str, usize> {
    let features = [
        "\"$defs\"",
        "\"$ref\"",
        "\"oneOf\"",
        "\"anyOf\"",
        "\"enum\"",
        "\"const\"",
        "\"default\"",
        "\"format\"",
        "\"pattern\"",
        "\"minimum\"",
        "\"maximum\"",
        "\"minLength\"",
        "\"minItems\"",
        "\"maxItems\"",
        "\"prefixItems\"",
        "\"uniqueItems\"",
        "\"additionalProperties\"",
        "\"patternProperties\"",
        "\"propertyNames\"",
        "\"required\": false",
        "\"type\": \"any\"",
        "\"returns\"",
        "\"writeOnly\"",
        "\"tags\"",
        "\"description\": \"\"",
        "\\n",
        "Returned\"",
        "2\": {",
    ];
    let texts: Vec<String> = manifest.iter().map(|(_, tool)| tool_model::to_pretty(tool)).collect();
    let count = |feature: &str| texts.iter().filter(|text| text.contains(feature)).count();
    features.into_iter().map(|feature| (feature, count(feature))).collect()
}
