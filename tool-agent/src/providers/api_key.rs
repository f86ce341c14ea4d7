//! API keys.

use std::fmt;

use reqwest::header::HeaderValue;

/// The minimum length of a key that is treated as a secret.
const MIN_SECRET: usize = 8;

/// A provider's API key. It is read from the environment, sent in one header, and never shown.
#[derive(Clone)]
pub(super) struct ApiKey(String);

impl ApiKey {
    /// Creates a key, unless the text is empty.
    pub(super) fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// Returns the header value, with a prefix such as `Bearer `. Marked as sensitive so that HTTP libraries do not log
    /// it.
    pub(super) fn header(&self, before: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::try_from(format!("{before}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Removes the key from a provider's text, because some providers repeat the key that they reject. Short dummy
    /// keys, such as `none` for a local server, are not secrets and would match ordinary words.
    pub(super) fn redact(&self, text: &str) -> String {
        if self.0.len() < MIN_SECRET { text.to_owned() } else { text.replace(&self.0, "***") }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
