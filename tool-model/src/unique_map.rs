//! Maps without duplicate keys. JSON allows duplicates and serde keeps the last one, so a tool would silently
//! disappear.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

/// An entry of a manifest that has a name.
pub(crate) trait NamedEntry {
    /// The noun for error messages.
    const NOUN: &'static str;

    /// Returns a detail that distinguishes entries with the same name.
    fn detail(&self) -> &str {
        ""
    }
}

/// Deserializes a map and rejects duplicate keys. For `#[serde(deserialize_with)]`.
pub(crate) fn unique<'de, D, T>(deserializer: D) -> Result<BTreeMap<String, T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + NamedEntry,
{
    UniqueMap(PhantomData).deserialize(deserializer)
}

/// The seed of [`unique`].
pub(crate) struct UniqueMap<T>(pub(crate) PhantomData<T>);

impl<'de, T: Deserialize<'de> + NamedEntry> DeserializeSeed<'de> for UniqueMap<T> {
    type Value = BTreeMap<String, T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T: Deserialize<'de> + NamedEntry> Visitor<'de> for UniqueMap<T> {
    type Value = BTreeMap<String, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with {}s by name", T::NOUN)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries: Vec<(String, T)> = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        // Manifests are usually sorted, and a `BTreeMap` is built fastest from sorted entries.
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        match entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            None => Ok(entries.into_iter().collect()),
            Some(pair) => Err(A::Error::custom(same_name(&pair[0].0, &pair[0].1, &pair[1].1))),
        }
    }
}

fn same_name<T: NamedEntry>(name: &str, first: &T, second: &T) -> String {
    let details = match (first.detail(), second.detail()) {
        ("", "") => String::new(),
        (first, second) => format!(": {first} and {second}"),
    };
    format!("duplicate {} `{name}`{details}", T::NOUN)
}
