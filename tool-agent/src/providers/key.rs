//! Keys.

use std::fmt;

use reqwest::header::HeaderValue;

/// No key is shorter.
const SHORTEST: usize = 8;

/// A provider's key. It comes from the environment and goes into one header; nothing else of it is ever shown.
#[derive(Clone)]
pub(super) struct Key(String);

impl Key {
    /// Nothing where the text cannot be a key, such as an empty one.
    pub(super) fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// The key as a header, behind a word such as `Bearer `. Marked, so that nothing below prints it either.
    pub(super) fn header(&self, before: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::try_from(format!("{before}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// A text of the provider without the key in it: some say which key they refuse. What is too short to be a secret,
    /// such as the `none` that a local server is given, is left alone, and with it the words that contain it.
    pub(super) fn hidden_in(&self, text: &str) -> String {
        if self.0.len() < SHORTEST { text.to_owned() } else { text.replace(&self.0, "***") }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
