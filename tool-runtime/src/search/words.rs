//! The words of a text, by their stems.

use crate::selection::words_of_name;

/// Words that say nothing of what a tool is about.
const EMPTY: [&str; 24] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "is", "it", "of", "on", "or", "that", "the",
    "this", "to", "what", "which", "with", "how",
];

/// The stems of a text's words, in order. A name in it counts as its words.
pub(super) fn stems(text: &str) -> impl Iterator<Item = String> + '_ {
    words_of_name(text).into_iter().filter(|word| !EMPTY.contains(&word.as_str())).map(|word| stem(&word))
}

/// A word without the endings that English gives it most: enough to find *sending* with *send*, and too little to
/// mistake one word for another.
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
        // *stopping* is *stop*, *filling* is *fill*.
        Some(stem) if doubled(stem) => &stem[..stem.len() - 1],
        Some(stem) => stem,
        None => &singular,
    };
    // *delete* and *deleting* meet without the last letter.
    match stem.strip_suffix('e').filter(|stem| stem.len() >= 3) {
        Some(stem) => stem.to_owned(),
        None => stem.to_owned(),
    }
}

fn doubled(stem: &str) -> bool {
    let bytes = stem.as_bytes();
    matches!(bytes, [.., a, b] if a == b && !matches!(b, b'l' | b's' | b'z' | b'e' | b'o'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        stems(text).collect()
    }

    #[test]
    fn forms_of_one_word_meet() {
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
    fn words_that_only_look_alike_stay_apart() {
        for (one, other) in [("bus", "bu"), ("ring", "r"), ("status", "statu"), ("red", "r"), ("class", "clas")] {
            assert_ne!(stem(one), stem(other));
        }
    }

    #[test]
    fn names_are_words_too() {
        assert_eq!(of("github.listPull_requests"), of("github list pull request"));
        assert_eq!(of("the of"), [""; 0]);
        assert_eq!(of("Größe"), ["größe"]);
    }
}
