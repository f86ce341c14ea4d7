//! Validation of tool names, and prefixes derived from type names.

/// The longest name a tool can have.
pub const MAX_LENGTH: usize = 128;

/// Checks a tool's name: a letter or `_`, then letters, digits, `_`, `-` and `.`, at most [`MAX_LENGTH`] of them.
///
/// # Errors
/// If the name is invalid; the message gives the reason.
pub fn check(name: &str) -> Result<(), String> {
    let Some(first) = name.chars().next() else {
        return Err("a tool's name cannot be empty".to_owned());
    };
    if !(first.is_ascii_alphabetic() || first == '_') {
        return Err(format!("a tool's name starts with a letter or `_`, not with {first:?}"));
    }
    if let Some(bad) = name.chars().find(|&c| !is_allowed(c)) {
        return Err(format!("a tool's name has letters, digits, `_`, `-` and `.`, not {bad:?}"));
    }
    if name.ends_with('.') || name.contains("..") {
        return Err("a `.` in a tool's name must separate two parts".to_owned());
    }
    if name.len() > MAX_LENGTH {
        return Err(format!("a tool's name has at most {MAX_LENGTH} characters, this has {}", name.len()));
    }
    Ok(())
}

/// The rule for names of arguments, which model providers set.
pub const ARGUMENT_NAME: &str = "an argument name consists of 1 to 64 letters, digits, `_`, `-` and `.`";

/// Returns `true` if model providers accept the name of an argument.
#[must_use]
pub fn is_argument_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= 64 && name.chars().all(is_allowed)
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Returns the prefix for a type: its name in snake case, without a final `Service`.
///
/// ```
/// assert_eq!(tool_model::name::prefix_of("SystemPackagesService"), "system_packages");
/// assert_eq!(tool_model::name::prefix_of("HTTPClient"), "http_client");
/// assert_eq!(tool_model::name::prefix_of("Service"), "service");
/// ```
#[must_use]
pub fn prefix_of(type_name: &str) -> String {
    let stem = type_name.strip_suffix("Service").filter(|stem| !stem.is_empty()).unwrap_or(type_name);
    let chars: Vec<char> = stem.chars().collect();
    let mut prefix = String::with_capacity(stem.len() + 4);
    for (index, &c) in chars.iter().enumerate() {
        if c.is_uppercase() {
            let after_lower = index > 0 && !chars[index - 1].is_uppercase() && chars[index - 1] != '_';
            let before_lower = index > 0
                && chars[index - 1].is_uppercase()
                && chars.get(index + 1).is_some_and(|next| next.is_lowercase());
            if after_lower || before_lower {
                prefix.push('_');
            }
        }
        prefix.extend(c.to_lowercase());
    }
    prefix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_invalid_names_with_a_reason() {
        assert!(check("metrics.newest-2").is_ok());
        for (name, part) in
            [("", "empty"), ("9lives", "starts with"), ("a b", "' '"), ("a..b", "two parts"), ("a.", "two parts")]
        {
            let error = check(name).unwrap_err();
            assert!(error.contains(part), "{name:?}: {error}");
        }
        assert!(check(&"x".repeat(129)).unwrap_err().contains("at most 128"));
    }
}
