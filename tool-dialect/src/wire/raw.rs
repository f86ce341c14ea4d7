//! A part of a JSON text that is looked into without reading all of it. What a model wrote as arguments stays as it
//! is, to the last digit.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::ResponseError;

/// A part of a JSON text.
#[derive(Clone, Copy)]
pub(crate) struct Raw<'a>(&'a str);

/// How much of a text is shown in an error.
const SHOWN: usize = 200;

impl<'a> Raw<'a> {
    pub(crate) fn read(text: &'a str) -> Result<Self, ResponseError> {
        match serde_json::from_str::<&RawValue>(text) {
            Ok(raw) => Ok(Self(raw.get())),
            Err(error) => Err(ResponseError::new(format!("the response is not JSON: {error}"))),
        }
    }

    /// What stands under a key of an object; `null` counts as nothing.
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

    /// The content of a string.
    pub(crate) fn text(self) -> Option<String> {
        serde_json::from_str(self.0).ok()
    }

    /// The string under a key.
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

    /// Its beginning, for an error.
    pub(crate) fn shown(self) -> String {
        match self.0.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &self.0[..end]),
            None => self.0.to_owned(),
        }
    }
}
