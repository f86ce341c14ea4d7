//! Types of the language, of the standard library and of other libraries that schemars supports.

use serde_json::{Value, json};
use tool_model::trace::library_schema;

use super::SchemaContract;
use super::kind::SchemaKind;
use crate::ty::Ty;

/// A type without parameters.
#[derive(Clone, Copy)]
pub(super) struct PlainType {
    /// The name of its schema.
    pub(super) name: &'static str,
    /// The id that distinguishes it from others.
    pub(super) id: &'static str,
    /// `true` if its schema is always inline.
    pub(super) inline: bool,
    pub(super) schema: fn(SchemaContract) -> Value,
    /// The type's name, if it is parsed from a string and its schema does not tell.
    pub(super) parsed: Option<&'static str>,
}

/// Types that wrap another and have its schema.
const WRAPPERS: [&str; 11] =
    ["Box", "Rc", "Arc", "Weak", "Mutex", "RwLock", "Cell", "RefCell", "Cow", "Wrapping", "Reverse"];

/// Returns the type that a wrapper or a reference contains.
pub(super) fn wrapped_type(ty: &Ty) -> Option<&Ty> {
    match ty {
        Ty::Reference(inner) => Some(inner),
        Ty::Library { arguments, .. } => match ty.library()? {
            ("std", name) if WRAPPERS.contains(&name) => arguments.first(),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the kind of a type that is not defined in the scanned source.
pub(super) fn library_kind(ty: &Ty) -> Result<SchemaKind, &'static str> {
    match ty {
        Ty::Tuple(items) if items.is_empty() => Ok(SchemaKind::Unit),
        Ty::Tuple(items) if items.len() <= 16 => Ok(SchemaKind::Tuple(items.clone())),
        Ty::Tuple(_) => Err("tuples with more than 16 elements have no schema"),
        Ty::Array(item, Some(length)) if *length <= 32 => Ok(SchemaKind::Array((**item).clone(), *length)),
        Ty::Array(_, Some(_)) => Err("arrays with more than 32 elements have no schema"),
        Ty::Array(_, None) => Err("its length could not be evaluated"),
        Ty::Slice(item) => Ok(SchemaKind::List((**item).clone())),
        Ty::Library { arguments, .. } => {
            let (krate, name) = ty.library().unwrap_or_default();
            let known = generic(krate, name, arguments).or_else(|| plain(krate, name).map(SchemaKind::Plain));
            known.ok_or("its schema is unknown")
        }
        Ty::Unknown(_) | Ty::Constant(_) | Ty::Reference(_) | Ty::Defined { .. } => {
            Err("its definition is not in the scanned source")
        }
    }
}

/// Returns the kind of a library type with parameters.
fn generic(krate: &str, name: &str, arguments: &[Ty]) -> Option<SchemaKind> {
    let library = |path: &str| Ty::Library { path: path.into(), arguments: Vec::new() };
    if krate == "serde_json" && name == "Map" {
        return Some(SchemaKind::Map(library("std::string::String"), library("serde_json::Value")));
    }
    let mut arguments = arguments.iter().cloned();
    let mut next = || arguments.next();
    match (krate, name) {
        ("std", _) => {}
        ("indexmap", "IndexMap") => return Some(SchemaKind::Map(next()?, next()?)),
        ("indexmap", "IndexSet") => return Some(SchemaKind::Set(next()?)),
        ("either", "Either") => return Some(SchemaKind::Either(next()?, next()?)),
        _ => return None,
    }
    Some(match name {
        "Option" => SchemaKind::Option(next()?),
        "Vec" | "VecDeque" | "LinkedList" | "BinaryHeap" => SchemaKind::List(next()?),
        "HashSet" | "BTreeSet" => SchemaKind::Set(next()?),
        "HashMap" | "BTreeMap" => SchemaKind::Map(next()?, next()?),
        "Result" => SchemaKind::Result(next()?, next()?),
        "Bound" => SchemaKind::Bound(next()?),
        "Range" | "RangeInclusive" => SchemaKind::Range(next()?),
        "PhantomData" => SchemaKind::Unit,
        "NonZero" => {
            let inner = next()?;
            let (_, number) = inner.library()?;
            let mut letters = number.chars();
            let first = letters.next()?.to_ascii_uppercase();
            SchemaKind::Plain(plain("std", &format!("NonZero{first}{}", letters.as_str()))?)
        }
        _ => return None,
    })
}

macro_rules! plain {
    ($name:literal, $id:literal, $schema:tt) => {
        PlainType { name: $name, id: $id, inline: true, schema: |_| json!($schema), parsed: None }
    };
    ($name:literal, $schema:tt) => {
        plain!($name, $name, $schema)
    };
}

/// Returns a library type without parameters, or with parameters that do not affect its schema.
fn plain(krate: &str, name: &str) -> Option<PlainType> {
    match krate {
        "" => language_type(name),
        "std" => language_type(name).or_else(|| std_type(name)),
        "chrono" => chrono_type(name),
        // The type that the macros decode for `impl Serialize`.
        "serde_json" | "__tool" => Some(match name {
            "Value" | "RawValue" => plain!("AnyValue", true),
            "Number" => plain!("Number", {"type": "number"}),
            _ => return None,
        }),
        "schemars" if name == "Schema" => {
            Some(PlainType { inline: false, ..plain!("Schema", "schemars::Schema", {"type": ["object", "boolean"]}) })
        }
        "uuid" if name == "Uuid" => Some(plain!("Uuid", "uuid::Uuid", {"type": "string", "format": "uuid"})),
        "jiff" => Some(match name {
            "Timestamp" => plain!("Timestamp", "jiff::Timestamp", {"type": "string", "format": "date-time"}),
            "Zoned" => plain!("Zoned", "jiff::Zoned", {"type": "string", "format": "zoned-date-time"}),
            "SignedDuration" => {
                plain!("SignedDuration", "jiff::SignedDuration", {"type": "string", "format": "duration"})
            }
            "Span" => plain!("Span", "jiff::Span", {"type": "string", "format": "duration"}),
            "Date" => plain!("Date", "jiff::Date", {"type": "string", "format": "date"}),
            "Time" => plain!("Time", "jiff::Time", {"type": "string", "format": "partial-time"}),
            "DateTime" => plain!("DateTime", "jiff::DateTime", {"type": "string", "format": "partial-date-time"}),
            _ => return None,
        }),
        "rust_decimal" if name == "Decimal" => Some(decimal_type()),
        "bigdecimal" if name == "BigDecimal" => Some(decimal_type()),
        "bytes" if matches!(name, "Bytes" | "BytesMut") => Some(PlainType {
            inline: false,
            schema: |contract| {
                let types =
                    if contract == SchemaContract::Deserialize { json!(["array", "string"]) } else { json!("array") };
                json!({"type": types, "items": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255}})
            },
            ..plain!("Bytes", "bytes::Bytes", true)
        }),
        "semver" if name == "Version" => Some(PlainType {
            inline: false,
            schema: |_| library_schema("semver", "Version", None).unwrap_or_default(),
            ..plain!("SemVer", "semver::Version", true)
        }),
        "smol_str" if name == "SmolStr" => Some(plain!("string", {"type": "string"})),
        "url" if name == "Url" => Some(plain!("Url", "url::Url", {"type": "string", "format": "uri"})),
        _ => None,
    }
}

fn decimal_type() -> PlainType {
    PlainType {
        schema: |contract| match contract {
            SchemaContract::Deserialize => library_schema("rust_decimal", "Decimal", None).unwrap_or_default(),
            SchemaContract::Serialize => json!({"type": "string", "pattern": r"^-?\d+(\.\d+)?$"}),
        },
        ..plain!("Decimal", true)
    }
}

pub(super) fn language_type(name: &str) -> Option<PlainType> {
    Some(match name {
        "bool" => plain!("boolean", {"type": "boolean"}),
        "char" => plain!("Character", "char", {"type": "string", "minLength": 1, "maxLength": 1}),
        "str" => plain!("string", {"type": "string"}),
        "f32" => plain!("float", {"type": "number", "format": "float"}),
        "f64" => plain!("double", {"type": "number", "format": "double"}),
        "i8" => plain!("int8", {"type": "integer", "format": "int8", "minimum": -128, "maximum": 127}),
        "i16" => plain!("int16", {"type": "integer", "format": "int16", "minimum": -32768, "maximum": 32767}),
        "i32" => plain!("int32", {"type": "integer", "format": "int32"}),
        "i64" => plain!("int64", {"type": "integer", "format": "int64"}),
        "i128" => plain!("int128", {"type": "integer", "format": "int128"}),
        "isize" => plain!("int", {"type": "integer", "format": "int"}),
        "u8" => plain!("uint8", {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255}),
        "u16" => plain!("uint16", {"type": "integer", "format": "uint16", "minimum": 0, "maximum": 65535}),
        "u32" => plain!("uint32", {"type": "integer", "format": "uint32", "minimum": 0}),
        "u64" => plain!("uint64", {"type": "integer", "format": "uint64", "minimum": 0}),
        "u128" => plain!("uint128", {"type": "integer", "format": "uint128", "minimum": 0}),
        "usize" => plain!("uint", {"type": "integer", "format": "uint", "minimum": 0}),
        _ => return None,
    })
}

fn std_type(name: &str) -> Option<PlainType> {
    if let Some(number) = name.strip_prefix("Atomic") {
        return language_type(&number.to_ascii_lowercase());
    }
    let zeroless =
        |schema: fn(SchemaContract) -> Value, name, id| PlainType { name, id, inline: true, schema, parsed: None };
    macro_rules! non_zero {
        ($name:literal, signed $schema:tt) => {
            zeroless(|_| with(json!($schema), "not", json!({"const": 0})), $name, concat!("std::num::", $name))
        };
        ($name:literal, $schema:tt) => {
            zeroless(|_| with(json!($schema), "minimum", json!(1)), $name, concat!("std::num::", $name))
        };
    }
    Some(match name {
        "String" | "PathBuf" | "Path" | "Arguments" => plain!("string", {"type": "string"}),
        "SocketAddr" => PlainType { parsed: Some("SocketAddr"), ..plain!("string", {"type": "string"}) },
        "SocketAddrV4" => PlainType { parsed: Some("SocketAddrV4"), ..plain!("string", {"type": "string"}) },
        "SocketAddrV6" => PlainType { parsed: Some("SocketAddrV6"), ..plain!("string", {"type": "string"}) },
        "Ipv4Addr" => plain!("ipv4", {"type": "string", "format": "ipv4"}),
        "Ipv6Addr" => plain!("ipv6", {"type": "string", "format": "ipv6"}),
        "IpAddr" => PlainType { parsed: Some("IpAddr"), ..plain!("ip", {"type": "string", "format": "ip"}) },
        "NonZeroI8" => {
            non_zero!("NonZeroI8", signed {"type": "integer", "format": "int8", "minimum": -128, "maximum": 127})
        }
        "NonZeroI16" => {
            non_zero!("NonZeroI16", signed {"type": "integer", "format": "int16", "minimum": -32768, "maximum": 32767})
        }
        "NonZeroI32" => non_zero!("NonZeroI32", signed {"type": "integer", "format": "int32"}),
        "NonZeroI64" => non_zero!("NonZeroI64", signed {"type": "integer", "format": "int64"}),
        "NonZeroI128" => non_zero!("NonZeroI128", signed {"type": "integer", "format": "int128"}),
        "NonZeroIsize" => non_zero!("NonZeroIsize", signed {"type": "integer", "format": "int"}),
        "NonZeroU8" => non_zero!("NonZeroU8", {"type": "integer", "format": "uint8", "maximum": 255}),
        "NonZeroU16" => non_zero!("NonZeroU16", {"type": "integer", "format": "uint16", "maximum": 65535}),
        "NonZeroU32" => non_zero!("NonZeroU32", {"type": "integer", "format": "uint32"}),
        "NonZeroU64" => non_zero!("NonZeroU64", {"type": "integer", "format": "uint64"}),
        "NonZeroU128" => non_zero!("NonZeroU128", {"type": "integer", "format": "uint128"}),
        "NonZeroUsize" => non_zero!("NonZeroUsize", {"type": "integer", "format": "uint"}),
        "Duration" => PlainType {
            inline: false,
            ..plain!("Duration", "std::time::Duration", {
                "type": "object",
                "required": ["secs", "nanos"],
                "properties": {
                    "secs": {"type": "integer", "format": "uint64", "minimum": 0},
                    "nanos": {"type": "integer", "format": "uint32", "minimum": 0}
                }
            })
        },
        "SystemTime" => PlainType {
            inline: false,
            ..plain!("SystemTime", "std::time::SystemTime", {
                "type": "object",
                "required": ["secs_since_epoch", "nanos_since_epoch"],
                "properties": {
                    "secs_since_epoch": {"type": "integer", "format": "uint64", "minimum": 0},
                    "nanos_since_epoch": {"type": "integer", "format": "uint32", "minimum": 0}
                }
            })
        },
        "OsString" | "OsStr" => PlainType {
            inline: false,
            ..plain!("OsString", "std::ffi::OsString", {
                "oneOf": [
                    {
                        "type": "object",
                        "properties": {"Unix": {
                            "type": "array",
                            "items": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255}
                        }},
                        "required": ["Unix"]
                    },
                    {
                        "type": "object",
                        "properties": {"Windows": {
                            "type": "array",
                            "items": {"type": "integer", "format": "uint16", "minimum": 0, "maximum": 65535}
                        }},
                        "required": ["Windows"]
                    }
                ]
            })
        },
        "CString" | "CStr" => PlainType {
            name: "CString",
            id: "std::ffi::CString",
            inline: false,
            parsed: None,
            schema: |contract| {
                let types =
                    if contract == SchemaContract::Deserialize { json!(["array", "string"]) } else { json!("array") };
                json!({"type": types, "items": {"type": "integer", "minimum": 1, "maximum": 255}})
            },
        },
        _ => return None,
    })
}

fn chrono_type(name: &str) -> Option<PlainType> {
    Some(match name {
        "DateTime" => plain!("DateTime", "chrono::DateTime", {"type": "string", "format": "date-time"}),
        "NaiveDate" => plain!("NaiveDate", "chrono::NaiveDate", {"type": "string", "format": "date"}),
        "NaiveDateTime" => {
            plain!("NaiveDateTime", "chrono::NaiveDateTime", {"type": "string", "format": "partial-date-time"})
        }
        "NaiveTime" => plain!("NaiveTime", "chrono::NaiveTime", {"type": "string", "format": "partial-time"}),
        "Weekday" => plain!("Weekday", "chrono::Weekday", {
            "type": "string",
            "enum": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        }),
        // `Duration` is its former name.
        "TimeDelta" | "Duration" => plain!("TimeDelta", "chrono::TimeDelta", {
            "type": "array",
            "prefixItems": [
                {"type": "integer", "format": "int64"},
                {"type": "integer", "minimum": 0, "exclusiveMaximum": 1_000_000_000}
            ],
            "minItems": 2,
            "maxItems": 2
        }),
        _ => return None,
    })
}

fn with(mut schema: Value, key: &str, value: Value) -> Value {
    schema[key] = value;
    schema
}
