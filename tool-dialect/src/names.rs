//! Encoding of tool and argument names for providers.

use std::borrow::Cow;
use std::fmt;

use tool_model::ToolDefinition;

use crate::rules::NameRule;

/// An error: two tools have the same name for a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameClash {
    /// The names of both tools.
    pub tools: [String; 2],
    /// The encoded name that they share.
    pub encoded: String,
}

impl fmt::Display for NameClash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, other] = &self.tools;
        if one == other {
            return write!(f, "duplicate tool `{one}`; rename one of them");
        }
        write!(
            f,
            "the tools `{one}` and `{other}` are both named `{}` for the provider; rename one of them",
            self.encoded
        )
    }
}

impl std::error::Error for NameClash {}

/// Encodes a tool name for a provider. Dots become `__`; a name that is too long keeps its tail, after a short hash.
pub(crate) fn encoded<'a>(name: &'a str, rule: &NameRule) -> Cow<'a, str> {
    if rule.takes(name) {
        return Cow::Borrowed(name);
    }
    if let Some(encoded) = without_dots(name, rule) {
        return Cow::Owned(encoded);
    }
    let mut is_lossy = false;
    let mut encoded = String::with_capacity(name.len() + 8);
    if rule.starts_with_letter && name.starts_with(|c: char| !c.is_ascii_alphabetic() && c != '_' && rule.takes_char(c))
    {
        is_lossy = true;
        encoded.push('_');
    }
    for c in name.chars() {
        match c {
            _ if rule.takes_char(c) => encoded.push(c),
            '.' => encoded.push_str("__"),
            _ => {
                is_lossy = true;
                encoded.push('_');
            }
        }
    }
    if is_lossy || encoded.is_empty() || encoded.len() > rule.longest {
        // The end of a name is more specific than its beginning, which is often a shared prefix.
        let room = rule.longest - HASHED;
        let tail = &encoded[encoded.len().saturating_sub(room)..];
        encoded = format!("_{:08x}_{tail}", hash(name));
    }
    Cow::Owned(encoded)
}

/// The fast path: encodes a name in which only the dots are invalid.
fn without_dots(name: &str, rule: &NameRule) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len() + 8);
    for byte in name.bytes() {
        match byte {
            byte if rule.takes_byte(byte) => bytes.push(byte),
            b'.' => bytes.extend_from_slice(b"__"),
            _ => return None,
        }
    }
    let starts_well =
        !rule.starts_with_letter || bytes.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_');
    let fits = starts_well && (1..=rule.longest).contains(&bytes.len());
    fits.then(|| String::from_utf8(bytes).ok()).flatten()
}

/// The length of the hash with its two underscores.
const HASHED: usize = 10;

/// FNV-1a: short, and stable across machines and versions.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Returns the arguments that must be renamed: own name and provider's name.
pub(crate) fn renamed_arguments(tool: &ToolDefinition, rule: Option<&NameRule>) -> Vec<(String, String)> {
    let Some(rule) = rule else { return Vec::new() };
    let mut renamed: Vec<(String, String)> = Vec::new();
    for own in tool.arguments.keys().filter(|name| !rule.takes(name)) {
        let mut plain: String = own.chars().map(|c| if rule.takes_char(c) { c } else { '_' }).collect();
        if rule.starts_with_letter && plain.starts_with(|c: char| c.is_ascii_digit()) {
            plain.insert(0, '_');
        }
        let is_free = |name: &str, renamed: &[(String, String)]| {
            rule.takes(name) && !tool.arguments.contains_key(name) && renamed.iter().all(|(_, other)| other != name)
        };
        // Adds a hash only if the plain name is taken or too long.
        let other = if is_free(&plain, &renamed) { plain } else { with_hash(own, &plain, rule) };
        renamed.push((own.clone(), other));
    }
    renamed
}

fn with_hash(own: &str, plain: &str, rule: &NameRule) -> String {
    let tail = &plain[plain.len().saturating_sub(rule.longest - HASHED)..];
    format!("_{:08x}_{tail}", hash(own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    fn portable(name: &str) -> String {
        encoded(name, &Dialect::OpenAiChat.rules().tool_names).into_owned()
    }

    #[test]
    fn encodes_names_for_providers() {
        assert_eq!(portable("uptime"), "uptime");
        assert_eq!(portable("system.packages.list"), "system__packages__list");
        let long = format!("{}.newest", "x".repeat(60));
        let short = portable(&long);
        assert_eq!(short.len(), 64);
        assert!(short.starts_with('_') && short.ends_with("xxx__newest"), "{short}");
        assert_ne!(short, portable(&format!("y{}", &long[1..])), "the hash is of the whole name");
        for odd in ["größe", "", "9lives", "a b", "-x"] {
            assert!(Dialect::OpenAiChat.rules().tool_names.takes(&portable(odd)), "{odd}: {}", portable(odd));
        }
        assert_ne!(portable("a b"), portable("a_b"));
    }

    #[test]
    fn each_provider_has_its_own_rule() {
        let of = |dialect: Dialect, name| encoded(name, &dialect.rules().tool_names).into_owned();
        assert_eq!(of(Dialect::Mcp, "a.b"), "a.b");
        assert_eq!(of(Dialect::Gemini, "a.b"), "a.b");
        let long = "x".repeat(100);
        assert_eq!(of(Dialect::OpenAiResponses, &long), long);
        assert_eq!(of(Dialect::Gemini, &long).len(), 64);
    }

    #[test]
    fn renamed_arguments_are_unique() {
        let mut tool = ToolDefinition::default();
        for name in ["user-name", "user_name", "user.name", "9", "ok"] {
            tool.arguments.insert(name.to_owned(), tool_model::Argument::new("string", true));
        }
        let rule = Dialect::Gemini.rules().argument_names.as_ref();
        let renamed = renamed_arguments(&tool, rule);
        let own: Vec<&str> = renamed.iter().map(|(own, _)| own.as_str()).collect();
        assert_eq!(own, ["9", "user-name", "user.name"]);
        let mut others: Vec<&str> = renamed.iter().map(|(_, other)| other.as_str()).collect();
        others.extend(["user_name", "ok"]);
        others.sort_unstable();
        others.dedup();
        assert_eq!(others.len(), 5, "{renamed:?}");
        assert!(renamed.iter().all(|(_, other)| rule.is_some_and(|rule| rule.takes(other))), "{renamed:?}");
    }
}
