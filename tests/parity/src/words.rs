//! Pools of names and predicates.

/// Names of types. Some are also names of library types, which a name alone would confuse.
pub const NOUNS: &[&str] = &[
    "Order",
    "Customer",
    "Invoice",
    "Item",
    "Address",
    "Money",
    "Point",
    "Event",
    "Report",
    "Metric",
    "Filter",
    "Range",
    "Status",
    "Level",
    "Unit",
    "Value",
    "Url",
    "Duration",
    "Path",
    "Map",
    "Number",
    "Session",
    "Query",
    "Cursor",
    "HTTPHeader",
    "Node",
    "Leaf",
    "Color",
    "Shape",
    "Grade",
];

/// Names of types that applications provide: none that looks like an argument's.
pub const RESOURCES: &[&str] = &["Connection", "OrderRepository", "Session", "Clock"];

/// Names of fields and parameters.
pub const FIELDS: &[&str] = &[
    "id",
    "name",
    "count",
    "first_name",
    "created_at",
    "items",
    "limit",
    "offset",
    "note",
    "tags",
    "total_price",
    "r#type",
    "r#in",
    "format",
    "title",
    "description",
    "required",
    "default",
    "properties",
    "x",
    "y2",
    "is_open",
    "parent",
    "größe",
    "children",
    "unit_of_measure",
    "a_b_c",
    "_hidden",
    "html5",
    "last_seen_by",
    "weight",
];

/// Names of variants.
pub const VARIANTS: &[&str] = &[
    "Zebra",
    "Apple",
    "Mango",
    "FirstOfAll",
    "Second",
    "HTTPError",
    "None",
    "Some",
    "X",
    "Y2",
    "InProgress",
    "Done",
    "Unknown",
    "V10",
    "Default",
    "Red",
    "GreenIsh",
    "Blue",
];

/// Names of functions.
pub const VERBS: &[&str] = &[
    "list",
    "find",
    "create",
    "delete",
    "newest",
    "count_all",
    "update",
    "export_as_csv",
    "r#move",
    "send",
    "check_in",
    "ping",
    "resolve",
    "r#loop",
    "totals",
    "merge2",
];

/// Names for `#[serde(rename)]`.
pub const RENAMES: &[&str] = &[
    "$ref",
    "enum",
    "additionalProperties",
    "family-name",
    "with space",
    "Ünïcödé",
    "items",
    "quo\\\"te",
    "a/b~c",
    "",
];

/// serde's rules for names.
pub const CASES: &[&str] = &[
    "lowercase",
    "UPPERCASE",
    "PascalCase",
    "camelCase",
    "snake_case",
    "SCREAMING_SNAKE_CASE",
    "kebab-case",
    "SCREAMING-KEBAB-CASE",
];

/// Regular expressions that both schemars and our attributes accept, as literals.
pub const PATTERNS: &[&str] = &["\"^[a-z]+$\"", "r\"\\d{2}\"", "\"^(a|b)\"", "r#\"^\"\\w*\"$\"#"];

/// Predicates that hold for the generated crate.
pub const TRUE: &[&str] = &[
    "all()",
    "feature = \"on\"",
    "not(feature = \"off\")",
    "any(unix, windows)",
    "not(test)",
    "all(feature = \"on\", not(feature = \"off\"))",
    "debug_assertions",
    "target_pointer_width = \"64\"",
    "panic = \"unwind\"",
    "true",
];

/// Predicates that do not hold for the generated crate.
pub const FALSE: &[&str] = &[
    "any()",
    "feature = \"off\"",
    "not(feature = \"on\")",
    "test",
    "all(unix, windows)",
    "target_os = \"none\"",
    "all(feature = \"on\", feature = \"off\")",
    "false",
];
