//! Equal keys in one object, anywhere in a text.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// The first key that stands twice in one object, below the outermost. `serde_json` keeps the last of the two
/// silently in maps and free-form values; what one reader sees would not be what another runs.
pub(super) fn nested_duplicate(text: &str) -> Option<String> {
    let mut found = None;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // An error of the text itself was reported by the reader before.
    drop(Walk { found: &mut found }.deserialize(&mut deserializer));
    found
}

struct Walk<'a> {
    found: &'a mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if seen.contains(&key) {
                self.found.get_or_insert_with(|| key.clone());
            }
            seen.insert(key);
            map.next_value_seed(Walk { found: &mut *self.found })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Walk { found: &mut *self.found })?.is_some() {}
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        <()>::deserialize(deserializer)
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::nested_duplicate;

    #[test]
    fn finds_equal_keys_of_one_object_only() {
        assert_eq!(nested_duplicate(r#"{"a": {"x": 1, "y": {"x": 2}}, "b": [{"x": 1}, {"x": 1}]}"#), None);
        assert_eq!(nested_duplicate(r#"{"a": [{"k": 1, "\u006b": 2}]}"#).as_deref(), Some("k"));
    }
}
