//! Sentences for constraints that a provider does not support as keywords.

use serde_json::Value;
use tool_model::canonical;

use super::keyword::Keyword;

/// Returns a sentence for a constraint; `None` for annotations.
pub(crate) fn sentence(keyword: Keyword, value: &Value) -> Option<String> {
    let said = canonical(value);
    let text = value.as_str().unwrap_or_default();
    Some(match keyword {
        Keyword::Minimum => format!("At least {said}."),
        Keyword::Maximum => format!("At most {said}."),
        Keyword::ExclusiveMinimum => format!("More than {said}."),
        Keyword::ExclusiveMaximum => format!("Less than {said}."),
        Keyword::MultipleOf => format!("A multiple of {said}."),
        Keyword::MinLength => format!("At least {}.", count(value, "character")),
        Keyword::MaxLength => format!("At most {}.", count(value, "character")),
        Keyword::MinItems => format!("At least {}.", count(value, "item")),
        Keyword::MaxItems => format!("At most {}.", count(value, "item")),
        Keyword::MinProperties => format!("At least {}.", count(value, "key")),
        Keyword::MaxProperties => format!("At most {}.", count(value, "key")),
        Keyword::UniqueItems if *value == Value::Bool(true) => "No item twice.".to_owned(),
        Keyword::Pattern => format!("Matches the regular expression `{text}`."),
        Keyword::Format => format!("In the format `{text}`."),
        Keyword::Default => format!("Default: {said}."),
        Keyword::Const => format!("Always {said}."),
        Keyword::Enum => {
            let values: Vec<String> = value.as_array()?.iter().map(canonical).collect();
            format!("One of {}.", values.join(", "))
        }
        Keyword::Examples => return None,
        Keyword::UniqueItems | Keyword::UnevaluatedItems | Keyword::UnevaluatedProperties => return None,
        other => format!("It also has to fit the JSON Schema {{\"{}\":{said}}}.", other.text()),
    })
}

/// Bounds that come in pairs, with the noun they count.
pub(crate) const RANGES: [(Keyword, Keyword, &str); 4] = [
    (Keyword::Minimum, Keyword::Maximum, ""),
    (Keyword::MinLength, Keyword::MaxLength, "character"),
    (Keyword::MinItems, Keyword::MaxItems, "item"),
    (Keyword::MinProperties, Keyword::MaxProperties, "key"),
];

/// Returns a sentence for a pair of bounds.
pub(crate) fn range(least: &Value, most: &Value, noun: &str) -> String {
    if least == most {
        return format!("Exactly {}.", count(most, noun));
    }
    format!("From {least} to {}.", count(most, noun))
}

fn count(value: &Value, noun: &str) -> String {
    match (noun, value.as_u64()) {
        ("", _) => value.to_string(),
        (noun, Some(1)) => format!("1 {noun}"),
        (noun, _) => format!("{value} {noun}s"),
    }
}

/// Appends sentences to a description.
pub(crate) fn joined(description: Option<&str>, sentences: &[String]) -> String {
    let mut text = description.unwrap_or_default().trim_end().to_owned();
    if !text.is_empty() {
        let is_list = text.contains('\n');
        if !is_list && !text.ends_with(['.', '!', '?', ':', ';']) {
            text.push('.');
        }
        text.push(if is_list { '\n' } else { ' ' });
    }
    text + &sentences.join(" ")
}
