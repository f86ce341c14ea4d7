//! Tokens of a text: its words without stop words, reduced to their stems.
//!
//! The `rust-stemmers` crate 1.2 was tried instead. Its Snowball stemmer merges words that name different tools: *import*
//! and *important*, *internal* and *international*, *organ* and *organization*. It has had no release for six years and
//! brings 9 crates with serde's derive macro.

use crate::selection::words_of_name;

const STOP_WORDS: [&str; 24] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "is", "it", "of", "on", "or", "that", "the",
    "this", "to", "what", "which", "with", "how",
];

/// Returns the stems of the words of a text, in order. Names such as `listUsers` are split into their words.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = String> + '_ {
    words_of_name(text).into_iter().filter(|word| !STOP_WORDS.contains(&word.as_str())).map(|word| stem(&word))
}

/// Strips the most common English endings. *sending* matches *send*, but words of different meaning stay apart.
fn stem(word: &str) -> String {
    let long_enough = |stem: &str| stem.chars().count() >= 3 && stem.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    if !word.is_ascii() {
        return word.to_owned();
    }
    let singular = match word {
        _ if word.ends_with("ies") && word.len() > 4 => format!("{}y", &word[..word.len() - 3]),
        _ if word.ends_with("sses") || word.ends_with("shes") || word.ends_with("ches") || word.ends_with("xes") => {
            word[..word.len() - 2].to_owned()
        }
        _ if word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") && word.len() > 3 => {
            word[..word.len() - 1].to_owned()
        }
        _ => word.to_owned(),
    };
    let plain = ["ing", "ed"].iter().find_map(|ending| singular.strip_suffix(ending).filter(|stem| long_enough(stem)));
    let stem = match plain {
        // *stopping* becomes *stop*, but *filling* becomes *fill*.
        Some(stem) if has_doubled_consonant(stem) => &stem[..stem.len() - 1],
        Some(stem) => stem,
        None => &singular,
    };
    // Without its last letter, *delete* matches *deleting*.
    match stem.strip_suffix('e').filter(|stem| stem.len() >= 3) {
        Some(stem) => stem.to_owned(),
        None => stem.to_owned(),
    }
}

/// Returns `true` if the last consonant was doubled by an ending. Doubled letters such as in *fill* are part of the word.
fn has_doubled_consonant(stem: &str) -> bool {
    let bytes = stem.as_bytes();
    matches!(bytes, [.., a, b] if a == b && !matches!(b, b'l' | b's' | b'z' | b'e' | b'o'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_tokens(text: &str) -> Vec<String> {
        tokens(text).collect()
    }

    #[test]
    fn reduces_the_forms_of_a_word_to_one_stem() {
        for forms in [
            ["delete", "deletes", "deleting", "deleted"],
            ["query", "queries", "query", "query"],
            ["stop", "stops", "stopping", "stopped"],
            ["fill", "fills", "filling", "filled"],
            ["search", "searches", "searching", "searched"],
            ["process", "processes", "processing", "processed"],
        ] {
            let stems: Vec<String> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|other| *other == stems[0]), "{stems:?}");
        }
    }

    #[test]
    fn keeps_similar_words_apart() {
        for (one, other) in [("bus", "bu"), ("ring", "r"), ("status", "statu"), ("red", "r"), ("class", "clas")] {
            assert_ne!(stem(one), stem(other));
        }
    }

    #[test]
    fn splits_names_into_words() {
        assert_eq!(all_tokens("github.listPull_requests"), all_tokens("github list pull request"));
        assert_eq!(all_tokens("the of"), [""; 0]);
        assert_eq!(all_tokens("Größe"), ["größe"]);
    }
}
