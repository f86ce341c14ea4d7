//! Library types with a known schema.
//!
//! A trace sees how a type is read, not its format: a date is a string like any other. This table adds what schemars says
//! of such types. It is indexed by crate and name, which a program takes from `std::any::type_name` and the generator from
//! source. The tests compare both for every row; a row that no longer matches only loses the format.

use serde_json::{Value, json};

/// Returns the schema of a library type with a format, by its crate and name. `argument` is its first type parameter.
#[must_use]
pub fn library_schema(krate: &str, name: &str, argument: Option<&str>) -> Option<Value> {
    let text = || json!({"type": "string"});
    let format = |format: &str| json!({"type": "string", "format": format});
    let pattern = |types: Value, pattern: &str| json!({"type": types, "pattern": pattern});
    Some(match (krate, name) {
        ("std", "IpAddr") => format("ip"),
        ("std", "Ipv4Addr") => format("ipv4"),
        ("std", "Ipv6Addr") => format("ipv6"),
        ("std", "NonZero") => non_zero(argument?)?,
        ("serde_json", "Value" | "RawValue") => Value::Bool(true),
        ("serde_json", "Number") => json!({"type": "number"}),
        ("chrono", "DateTime") | ("jiff", "Timestamp") => format("date-time"),
        ("chrono", "NaiveDate") | ("jiff" | "time", "Date") => format("date"),
        ("chrono", "NaiveDateTime") | ("jiff", "DateTime") => format("partial-date-time"),
        ("chrono", "NaiveTime") | ("jiff", "Time") => format("partial-time"),
        ("chrono", "Weekday") => {
            json!({"type": "string", "enum": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]})
        }
        ("jiff", "SignedDuration" | "Span") => format("duration"),
        ("jiff", "Zoned") => format("zoned-date-time"),
        ("time", "Time" | "OffsetDateTime" | "PrimitiveDateTime" | "PlainDateTime" | "UtcOffset") => text(),
        ("uuid", "Uuid") => format("uuid"),
        ("url", "Url") => format("uri"),
        ("rust_decimal", "Decimal") | ("bigdecimal", "BigDecimal") => {
            pattern(json!(["string", "number"]), r"^-?\d+(\.\d+)?([eE]\d+)?$")
        }
        ("bytes", "Bytes" | "BytesMut") => {
            json!({"type": ["array", "string"], "items": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255}})
        }
        ("semver", "Version") => pattern(
            json!("string"),
            r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$",
        ),
        ("semver", "VersionReq") | ("ulid", "Ulid") | ("smol_str", "SmolStr") => text(),
        ("ipnet", "IpNet" | "Ipv4Net" | "Ipv6Net") | ("chrono", "Month") => text(),
        _ => return None,
    })
}

fn non_zero(number: &str) -> Option<Value> {
    let bounds = match number {
        "u8" => json!({"minimum": 1, "maximum": u8::MAX}),
        "u16" => json!({"minimum": 1, "maximum": u16::MAX}),
        "u32" => json!({"minimum": 1, "maximum": u32::MAX}),
        "u64" | "u128" | "usize" => json!({"minimum": 1}),
        "i8" => json!({"minimum": i8::MIN, "maximum": i8::MAX, "not": {"const": 0}}),
        "i16" => json!({"minimum": i16::MIN, "maximum": i16::MAX, "not": {"const": 0}}),
        "i32" => json!({"minimum": i32::MIN, "maximum": i32::MAX, "not": {"const": 0}}),
        "i64" | "i128" | "isize" => json!({"not": {"const": 0}}),
        _ => return None,
    };
    let mut schema = bounds;
    schema["type"] = "integer".into();
    Some(schema)
}

/// Returns the schema of a type with this full name.
pub(super) fn schema_of_type(full_name: &str) -> Option<Value> {
    let full_name = peeled(full_name);
    let (path, argument) = match full_name.split_once('<') {
        Some((path, arguments)) => (path, arguments.strip_suffix('>')),
        None => (full_name, None),
    };
    let (krate, _) = path.split_once("::")?;
    let (_, name) = path.rsplit_once("::")?;
    let krate = if matches!(krate, "core" | "alloc") { "std" } else { krate };
    library_schema(krate, name, argument)
}

/// Returns the schema of the type that a visitor belongs to. Types that deserialize as another show only its visitor.
pub(super) fn schema_of_visitor(visitor: &str) -> Option<Value> {
    // `<url::Url as Deserialize<'_>>::deserialize::UrlVisitor`
    let of_impl = visitor.strip_prefix('<').and_then(|rest| rest.split_once(" as ")).map(|(ty, _)| ty);
    // `semver::serde::<impl Deserialize<'_> for semver::Version>::deserialize::VersionVisitor`
    let of_block = || visitor.split_once(" for ").and_then(|(_, rest)| rest.split_once(">::")).map(|(ty, _)| ty);
    // `uuid::external::serde_support::UuidReadableVisitor<uuid::Uuid>`
    let of_argument = || visitor.split_once("Visitor<").and_then(|(_, rest)| rest.strip_suffix('>'));
    if let Some(ty) = of_impl.or_else(of_block).or_else(of_argument) {
        return schema_of_type(ty);
    }
    // `chrono::datetime::serde::DateTimeVisitor`
    let (krate, _) = visitor.split_once("::")?;
    let (_, name) = visitor.rsplit_once("::")?;
    library_schema(krate, name.strip_suffix("Visitor")?, None)
}

/// Returns the name of the type in boxes and other wrappers that serde sees through.
pub(super) fn peeled(full_name: &str) -> &str {
    const WRAPPERS: [&str; 11] = [
        "alloc::boxed::Box<",
        "alloc::rc::Rc<",
        "alloc::sync::Arc<",
        "alloc::borrow::Cow<'_, ",
        "core::cell::Cell<",
        "core::cell::RefCell<",
        "core::cmp::Reverse<",
        "core::num::wrapping::Wrapping<",
        "std::sync::poison::mutex::Mutex<",
        "std::sync::poison::rwlock::RwLock<",
        "std::sync::mutex::Mutex<",
    ];
    let mut name = full_name;
    while let Some(inner) =
        WRAPPERS.iter().find_map(|wrapper| name.strip_prefix(wrapper)).and_then(|name| name.strip_suffix('>'))
    {
        name = inner;
    }
    name
}
