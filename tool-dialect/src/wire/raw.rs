//! Partial access to a JSON text. The arguments of a call are not reserialized, so numbers keep every digit.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::ResponseError;

/// A part of a JSON text, parsed on access.
#[derive(Clone, Copy)]
pub(crate) struct RawJson<'a>(&'a str);

/// The number of characters shown in an error.
const SHOWN: usize = 200;

impl<'a> RawJson<'a> {
    pub(crate) fn read(text: &'a str) -> Result<Self, ResponseError> {
        match serde_json::from_str::<&RawValue>(text) {
            Ok(raw) => Ok(Self(raw.get())),
            Err(error) => Err(ResponseError::new(format!("the response is not JSON: {error}"))),
        }
    }

    /// Returns the value of a key; `null` counts as missing.
    pub(crate) fn get(self, key: &str) -> Option<Self> {
        self.fields()?.remove(key).filter(|value| !value.is_null())
    }

    pub(crate) fn fields(self) -> Option<BTreeMap<String, Self>> {
        let fields: BTreeMap<String, &'a RawValue> = serde_json::from_str(self.0).ok()?;
        Some(fields.into_iter().map(|(key, value)| (key, Self(value.get()))).collect())
    }

    pub(crate) fn items(self) -> Option<Vec<Self>> {
        let items: Vec<&'a RawValue> = serde_json::from_str(self.0).ok()?;
        Some(items.into_iter().map(|item| Self(item.get())).collect())
    }

    /// Returns the content of a string.
    pub(crate) fn text(self) -> Option<String> {
        serde_json::from_str(self.0).ok()
    }

    /// Returns the string at a key.
    pub(crate) fn text_at(self, key: &str) -> Option<String> {
        self.get(key)?.text()
    }

    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }

    pub(crate) fn is_string(self) -> bool {
        self.0.starts_with('"')
    }

    pub(crate) fn json(self) -> &'a str {
        self.0
    }

    pub(crate) fn value(self) -> Value {
        serde_json::from_str(self.0).unwrap_or_default()
    }

    /// Returns the beginning of the text, for an error message.
    pub(crate) fn shown(self) -> String {
        match self.0.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &self.0[..end]),
            None => self.0.to_owned(),
        }
    }
}
