//! Schemas of numbers, booleans and strings from the standard library, without schemars.
//!
//! This is a shortcut that matches `std::any::type_name`, whose format is not guaranteed. It is safe: a name that does
//! not match takes the general path through schemars, which returns the same schema. No other type can have a matching
//! name, because a path belongs to one crate and a bare name to the language. The tests compare both paths for every
//! type here, and fail if std changes the format.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A number, boolean or string type of the standard library, or a list of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scalar {
    pub(crate) type_name: &'static str,
    minimum: Option<i64>,
    maximum: Option<i64>,
    is_list: bool,
}

impl Scalar {
    /// Returns the scalar type of this name, also inside an `Option`.
    pub(crate) fn from_type_name(full_name: &str) -> Option<Self> {
        Self::bare(within(full_name, "core::option::Option<").unwrap_or(full_name))
    }

    /// Like [`from_type_name`](Self::from_type_name), and also accepts a `Vec` of scalars.
    pub(crate) fn from_type_name_or_list(full_name: &str) -> Option<Self> {
        let name = within(full_name, "core::option::Option<").unwrap_or(full_name);
        match within(name, "alloc::vec::Vec<") {
            Some(item) => Some(Self { is_list: true, ..Self::bare(item)? }),
            None => Self::bare(name),
        }
    }

    fn bare(full_name: &str) -> Option<Self> {
        let plain = |type_name| Self { type_name, minimum: None, maximum: None, is_list: false };
        let integer = |minimum: Option<i64>, maximum: Option<i64>| Self { minimum, maximum, ..plain("integer") };
        Some(match full_name {
            "alloc::string::String" | "std::path::PathBuf" => plain("string"),
            "bool" => plain("boolean"),
            "f32" | "f64" => plain("number"),
            "i8" => integer(Some(i8::MIN.into()), Some(i8::MAX.into())),
            "i16" => integer(Some(i16::MIN.into()), Some(i16::MAX.into())),
            "i32" => integer(Some(i32::MIN.into()), Some(i32::MAX.into())),
            "i64" | "i128" | "isize" => integer(None, None),
            "u8" => integer(Some(0), Some(u8::MAX.into())),
            "u16" => integer(Some(0), Some(u16::MAX.into())),
            "u32" => integer(Some(0), Some(u32::MAX.into())),
            "u64" | "u128" | "usize" => integer(Some(0), None),
            _ => return None,
        })
    }

    /// Returns the `type` and the other keywords of the schema.
    pub(crate) fn describe(self) -> (String, BTreeMap<String, Value>) {
        let bounds = [("maximum", self.maximum), ("minimum", self.minimum)];
        let bounds = bounds.into_iter().filter_map(|(key, bound)| Some((key.to_owned(), bound?.into())));
        if !self.is_list {
            return (self.type_name.to_owned(), bounds.collect());
        }
        let mut items: Map<String, Value> = bounds.collect();
        items.insert("type".to_owned(), self.type_name.into());
        ("array".to_owned(), BTreeMap::from([("items".to_owned(), Value::Object(items))]))
    }
}

/// Returns the type parameter of a generic type.
fn within<'a>(full_name: &'a str, generic: &str) -> Option<&'a str> {
    full_name.strip_prefix(generic)?.strip_suffix('>')
}

#[cfg(test)]
mod tests {
    use std::any::type_name;
    use std::path::PathBuf;

    use schemars::{JsonSchema, SchemaGenerator};

    use super::*;
    use crate::schema::SchemaDefinitions;

    fn assert_same_schema<T: JsonSchema>() {
        for (name, optional, schema) in [
            (type_name::<T>(), false, SchemaGenerator::default().subschema_for::<T>()),
            (type_name::<Option<T>>(), true, SchemaGenerator::default().subschema_for::<Option<T>>()),
            (type_name::<Vec<T>>(), false, SchemaGenerator::default().subschema_for::<Vec<T>>()),
            (type_name::<Option<Vec<T>>>(), true, SchemaGenerator::default().subschema_for::<Option<Vec<T>>>()),
        ] {
            let scalar = Scalar::from_type_name_or_list(name).unwrap_or_else(|| panic!("{name} is not recognized"));
            let general = SchemaDefinitions::new(serde_json::Map::new()).argument(schema.into(), optional, &[]);
            assert_eq!(scalar.describe(), general, "{name}");
        }
    }

    #[test]
    fn shortcut_returns_the_same_schema_as_schemars() {
        assert_same_schema::<String>();
        assert_same_schema::<PathBuf>();
        assert_same_schema::<bool>();
        assert_same_schema::<f32>();
        assert_same_schema::<f64>();
        assert_same_schema::<i8>();
        assert_same_schema::<i16>();
        assert_same_schema::<i32>();
        assert_same_schema::<i64>();
        assert_same_schema::<i128>();
        assert_same_schema::<isize>();
        assert_same_schema::<u8>();
        assert_same_schema::<u16>();
        assert_same_schema::<u32>();
        assert_same_schema::<u64>();
        assert_same_schema::<u128>();
        assert_same_schema::<usize>();
    }

    #[test]
    fn other_types_take_the_general_path() {
        assert_eq!(Scalar::from_type_name("app::String"), None);
        assert_eq!(Scalar::from_type_name("core::option::Option<core::option::Option<u8>>"), None);
        assert_eq!(Scalar::from_type_name("alloc::vec::Vec<u8>"), None);
        for name in [
            "alloc::vec::Vec<core::option::Option<u8>>",
            "alloc::vec::Vec<alloc::vec::Vec<u8>>",
            "alloc::vec::Vec<app::Order>",
            "app::Vec<u8>",
        ] {
            assert_eq!(Scalar::from_type_name_or_list(name), None, "{name}");
        }
    }
}
