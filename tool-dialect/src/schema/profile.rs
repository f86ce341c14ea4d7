//! Profiles: the JSON Schema subsets of the providers.

use super::keyword::Keyword::{self, *};
use super::keyword::KeywordSet;

/// A JSON Schema subset.
pub(crate) struct SchemaProfile {
    /// The supported keywords. Other constraints move into the description; other annotations are dropped.
    pub(crate) keywords: KeywordSet,
    /// The supported formats; `None` for all.
    pub(crate) formats: Option<&'static [&'static str]>,
    pub(crate) optional: OptionalStyle,
    pub(crate) null: NullStyle,
    pub(crate) patterns: PatternSupport,
    /// `true` if every object must have `additionalProperties: false`.
    pub(crate) closed: bool,
    /// `true` if every schema needs a type and every object its properties: no maps and no `any`.
    pub(crate) typed: bool,
    /// `true` if an `enum` may only have strings.
    pub(crate) text_enums: bool,
    /// `true` if a `$ref` must not have siblings.
    pub(crate) bare_references: bool,
    /// The largest allowed `minItems`.
    pub(crate) most_min_items: u64,
    /// The limits of a strict schema; `None` if the provider does not enforce schemas.
    pub(crate) strict: Option<StrictLimits>,
}

/// The representation of optional properties.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OptionalStyle {
    /// Not required. A possible `null` is omitted.
    LeftOut,
    /// Required and nullable.
    Null,
    /// Unchanged, for results.
    AsItIs,
}

/// The representation of `null`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NullStyle {
    /// `anyOf` with `{"type": "null"}`.
    Form,
    /// `type: ["string", "null"]` where that suffices.
    Type,
    /// `nullable: true`
    Flag,
}

/// The supported regular expressions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternSupport {
    All,
    /// No lookaround.
    NoLookAround,
    /// No lookaround, no backreferences, no word boundaries.
    Regular,
}

/// The limits of a strict schema.
pub(crate) struct StrictLimits {
    pub(crate) depth: usize,
    pub(crate) properties: usize,
    pub(crate) enum_values: usize,
}

const EVERYTHING: KeywordSet = KeywordSet::from_list(Keyword::ALL);

/// The profile for every provider's non-strict mode: references are inlined, there are no lists of types, and optional
/// arguments are simply not required.
pub(crate) const PORTABLE: SchemaProfile = SchemaProfile {
    keywords: EVERYTHING,
    formats: None,
    optional: OptionalStyle::LeftOut,
    null: NullStyle::Form,
    patterns: PatternSupport::All,
    closed: false,
    typed: false,
    text_enums: false,
    bare_references: false,
    most_min_items: u64::MAX,
    strict: None,
};

/// The profile for results, which keeps `null`.
pub(crate) const RESULT: SchemaProfile = SchemaProfile { optional: OptionalStyle::AsItIs, ..PORTABLE };

/// OpenAI's strict mode.
pub(crate) const OPENAI_STRICT: SchemaProfile = SchemaProfile {
    keywords: KeywordSet::from_list(&[
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
    optional: OptionalStyle::Null,
    null: NullStyle::Type,
    patterns: PatternSupport::NoLookAround,
    closed: true,
    typed: true,
    bare_references: true,
    strict: Some(StrictLimits { depth: 10, properties: 5_000, enum_values: 1_000 }),
    ..PORTABLE
};

/// Anthropic's strict mode, which compiles a grammar: no numeric bounds and no recursion.
pub(crate) const ANTHROPIC_STRICT: SchemaProfile = SchemaProfile {
    keywords: KeywordSet::from_list(&[
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
    optional: OptionalStyle::LeftOut,
    null: NullStyle::Form,
    patterns: PatternSupport::Regular,
    most_min_items: 1,
    strict: Some(StrictLimits { depth: usize::MAX, properties: usize::MAX, enum_values: usize::MAX }),
    ..OPENAI_STRICT
};

/// Gemini's `parameters`, a subset of OpenAPI schemas.
pub(crate) const GEMINI: SchemaProfile = SchemaProfile {
    keywords: KeywordSet::from_list(&[
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
    null: NullStyle::Flag,
    typed: true,
    text_enums: true,
    ..PORTABLE
};

impl SchemaProfile {
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
            PatternSupport::All => true,
            PatternSupport::NoLookAround => !looks_around(),
            PatternSupport::Regular => {
                let refers_back =
                    pattern.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && pair[1].is_ascii_digit());
                !looks_around() && !refers_back && !has(&["\\b", "\\B", "\\k<", "(?P="])
            }
        }
    }
}
