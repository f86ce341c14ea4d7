//! Names of functions that destroy something.

/// Words in such names.
const WORDS: [&str; 14] = [
    "ban",
    "delete",
    "destroy",
    "drop",
    "erase",
    "kill",
    "purge",
    "remove",
    "reset",
    "revoke",
    "terminate",
    "truncate",
    "uninstall",
    "wipe",
];

/// Returns the word in a name such as `delete_user`, `users.delete` or `deleteUser` that says that something is destroyed.
#[must_use]
pub fn destructive_word(name: &str) -> Option<&'static str> {
    let mut words = String::with_capacity(name.len() + 4);
    let mut was_lower = false;
    for letter in name.chars() {
        if letter.is_uppercase() && was_lower {
            words.push('_');
        }
        was_lower = letter.is_lowercase();
        words.extend(letter.to_lowercase());
    }
    let mut words = words.split(|sign: char| !sign.is_alphanumeric());
    words.find_map(|word| WORDS.iter().find(|known| **known == word).copied())
}

#[cfg(test)]
mod tests {
    use super::destructive_word;

    #[test]
    fn finds_words_not_parts_of_words() {
        for name in ["delete", "user.delete_all", "deleteUser", "users.dropTable", "Reset"] {
            assert!(destructive_word(name).is_some(), "{name}");
        }
        for name in ["undeleted", "dropdown.open", "bandwidth", "skills.list", "preset"] {
            assert_eq!(destructive_word(name), None, "{name}");
        }
    }
}
