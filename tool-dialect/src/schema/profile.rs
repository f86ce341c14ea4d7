//! How much of JSON Schema a provider understands, as data.

use super::keyword::Keyword::{self, *};
use super::keyword::Keywords;

/// One form of JSON Schema.
pub(crate) struct Profile {
    /// What is understood. Another keyword that restricts moves into the description; one that only remarks is
    /// left out.
    pub(crate) keywords: Keywords,
    /// The formats that are understood; all of them where it is `None`.
    pub(crate) formats: Option<&'static [&'static str]>,
    pub(crate) optional: Optional,
    pub(crate) null: Null,
    pub(crate) patterns: Patterns,
    /// Whether every object says that it takes nothing but its properties.
    pub(crate) closed: bool,
    /// Whether every schema must have a type, and an object its properties: no maps and no `any`.
    pub(crate) typed: bool,
    /// Whether a list of values can only have strings.
    pub(crate) text_enums: bool,
    /// Whether nothing may stand beside a `$ref`.
    pub(crate) bare_references: bool,
    /// The largest `minItems`.
    pub(crate) most_min_items: u64,
    /// What a schema may have at most, and what it counts for, where the provider enforces it.
    pub(crate) strict: Option<Limits>,
}

/// How a property looks that need not be there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Optional {
    /// It is not required; that it could also be `null` need not be said.
    LeftOut,
    /// It is required, and can be `null`.
    Null,
    /// As the schema says, for results.
    AsItIs,
}

/// How `null` is said.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Null {
    /// `anyOf` with `{"type": "null"}`.
    Form,
    /// `type: ["string", "null"]` where that is enough.
    Type,
    /// `nullable: true`
    Flag,
}

/// Which patterns are understood.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patterns {
    All,
    /// No looking around.
    NoLookAround,
    /// No looking around, no back references, no word boundaries.
    Regular,
}

/// What a strict schema may have.
pub(crate) struct Limits {
    pub(crate) depth: usize,
    pub(crate) properties: usize,
    pub(crate) enum_values: usize,
}

const EVERYTHING: Keywords = Keywords::of(Keyword::ALL);

/// The form that every provider's non-strict mode reads: references written out, no lists of types, arguments that
/// are optional simply not required.
pub(crate) const PORTABLE: Profile = Profile {
    keywords: EVERYTHING,
    formats: None,
    optional: Optional::LeftOut,
    null: Null::Form,
    patterns: Patterns::All,
    closed: false,
    typed: false,
    text_enums: false,
    bare_references: false,
    most_min_items: u64::MAX,
    strict: None,
};

/// The same for results, which must say where a `null` can come.
pub(crate) const RESULT: Profile = Profile { optional: Optional::AsItIs, ..PORTABLE };

/// OpenAI's strict mode.
pub(crate) const OPENAI_STRICT: Profile = Profile {
    keywords: Keywords::of(&[
        AdditionalProperties,
        AnyOf,
        Const,
        Defs,
        Description,
        Enum,
        ExclusiveMaximum,
        ExclusiveMinimum,
        Format,
        Items,
        MaxItems,
        Maximum,
        MinItems,
        Minimum,
        MultipleOf,
        Pattern,
        Properties,
        Ref,
        Required,
        Type,
    ]),
    formats: Some(&["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"]),
    optional: Optional::Null,
    null: Null::Type,
    patterns: Patterns::NoLookAround,
    closed: true,
    typed: true,
    bare_references: true,
    strict: Some(Limits { depth: 10, properties: 5_000, enum_values: 1_000 }),
    ..PORTABLE
};

/// Anthropic's strict mode: a grammar, which knows no numbers but small ones and no recursion.
pub(crate) const ANTHROPIC_STRICT: Profile = Profile {
    keywords: Keywords::of(&[
        AdditionalProperties,
        AnyOf,
        Const,
        Default,
        Description,
        Enum,
        Format,
        Items,
        MinItems,
        Pattern,
        Properties,
        Required,
        Type,
    ]),
    formats: Some(&["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"]),
    optional: Optional::LeftOut,
    null: Null::Form,
    patterns: Patterns::Regular,
    most_min_items: 1,
    strict: Some(Limits { depth: usize::MAX, properties: usize::MAX, enum_values: usize::MAX }),
    ..OPENAI_STRICT
};

/// Gemini's `parameters`, a part of OpenAPI's schemas.
pub(crate) const GEMINI: Profile = Profile {
    keywords: Keywords::of(&[
        AnyOf,
        Description,
        Enum,
        Format,
        Items,
        MaxItems,
        MaxLength,
        MaxProperties,
        Maximum,
        MinItems,
        MinLength,
        MinProperties,
        Minimum,
        Pattern,
        Properties,
        Required,
        Type,
    ]),
    formats: Some(&["date-time"]),
    null: Null::Flag,
    typed: true,
    text_enums: true,
    ..PORTABLE
};

impl Profile {
    pub(crate) fn knows(&self, keyword: Keyword) -> bool {
        self.keywords.contains(keyword)
    }

    pub(crate) fn knows_format(&self, format: &str) -> bool {
        self.formats.is_none_or(|known| known.contains(&format))
    }

    pub(crate) fn knows_pattern(&self, pattern: &str) -> bool {
        let has = |parts: &[&str]| parts.iter().any(|part| pattern.contains(part));
        let looks_around = || has(&["(?=", "(?!", "(?<=", "(?<!"]);
        match self.patterns {
            Patterns::All => true,
            Patterns::NoLookAround => !looks_around(),
            Patterns::Regular => {
                let refers_back =
                    pattern.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && pair[1].is_ascii_digit());
                !looks_around() && !refers_back && !has(&["\\b", "\\B", "\\k<", "(?P="])
            }
        }
    }
}
