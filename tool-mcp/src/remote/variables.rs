//! Environment variables in configuration values: `${TOKEN}`, `${TOKEN:-default}`, `${env:TOKEN}`.

/// Replaces the variables of a text.
pub(super) fn expand(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        expanded.push_str(before);
        let (inside, after) = after.split_once('}').ok_or_else(|| format!("`${{` is not closed in {text:?}"))?;
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(format!("`${{{inside}}}` is not a variable; write `${{NAME}}` or `${{NAME:-default}}`"));
        }
        match variable(name).filter(|value| default.is_none() || !value.is_empty()) {
            Some(value) => expanded.push_str(&value),
            None => expanded.push_str(default.ok_or_else(|| {
                format!("the environment variable `{name}` is not set; set it, or write `${{{name}:-default}}`")
            })?),
        }
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, String> {
        expand(text, |name| match name {
            "TOKEN" => Some("t0ken".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        })
    }

    #[test]
    fn replaces_variables() {
        for (text, expected) in [
            ("plain $HOME {x}", "plain $HOME {x}"),
            ("Bearer ${TOKEN}!", "Bearer t0ken!"),
            ("${env:TOKEN}${TOKEN}", "t0kent0ken"),
            ("${NONE:-a:-b}/${EMPTY:-c}/${EMPTY}", "a:-b/c/"),
            ("${NONE:-}", ""),
        ] {
            assert_eq!(expanded(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn explains_invalid_variables() {
        for (text, why) in [
            ("${NONE}", "variable `NONE` is not set"),
            ("${TOKEN", "not closed"),
            ("${a b}", "is not a variable"),
            ("${}", "is not a variable"),
        ] {
            let error = expanded(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
