//! Facts about a tool that its source shows and its schemas do not.
//!
//! A generator that reads sources adds them to its schemas as keywords, for comparing only. Manifests do not have them.

use serde_json::{Map, Value};

use super::ARGUMENTS;
use super::comparison::{SchemaComparison, property};
use super::difference::DifferenceEffect;
use super::properties::is_required;
use crate::schema::each_subschema;
use crate::validate::number::ExactNumber;
use crate::validate::schema::{NumberLimit, NumberRules, ObjectRules, Schema, SchemaRules};
use crate::{Manifest, ToolDefinition};

/// The keyword for the Rust type of a number or a string: `u64`, `f32`, `String`, or the name of a type that is parsed
/// or converted from one.
pub const RUST_TYPE: &str = "x-rust-type";

/// The keyword for the other names under which a property is read (`#[serde(alias)]`, `#[arg(alias)]`), in the property's
/// schema.
pub const ALIASES: &str = "x-aliases";

/// The keyword for the other names of the variants that `enum` or `const` lists.
pub const VARIANT_ALIASES: &str = "x-variant-aliases";

/// The keyword that says whether the values of an argument are validated against the schema at run time. Every argument
/// with known facts has it.
pub const VALIDATED: &str = "x-validated";

const KEYWORDS: [&str; 4] = [RUST_TYPE, ALIASES, VARIANT_ALIASES, VALIDATED];

/// Returns `true` for the keyword of a fact.
pub(super) fn is_fact(keyword: &str) -> bool {
    KEYWORDS.contains(&keyword)
}

/// Returns the manifest as a file has it.
#[must_use]
pub fn without_facts(manifest: &Manifest) -> Manifest {
    manifest.iter().map(|(name, tool)| (name.to_owned(), tool_without_facts(tool))).collect()
}

pub(super) fn tool_without_facts(tool: &ToolDefinition) -> ToolDefinition {
    let mut tool = tool.clone();
    for argument in tool.arguments.values_mut() {
        let mut schema = Value::Object(std::mem::take(&mut argument.keywords).into_iter().collect());
        remove_facts(&mut schema);
        if let Value::Object(keywords) = schema {
            argument.keywords = keywords.into_iter().collect();
        }
    }
    tool.defs.values_mut().for_each(remove_facts);
    tool
}

fn remove_facts(schema: &mut Value) {
    if let Value::Object(keywords) = schema {
        keywords.retain(|keyword, _| !is_fact(keyword));
    }
    each_subschema(schema, &mut remove_facts);
}

/// The facts about one schema.
#[derive(Debug, Default)]
pub(crate) struct SourceFacts {
    pub(super) rust_type: Option<RustType>,
    pub(super) aliases: Vec<String>,
    pub(super) variant_aliases: Vec<String>,
}

impl SourceFacts {
    pub(crate) fn read(schema: &Map<String, Value>) -> Option<Box<Self>> {
        let names = |keyword: &str| -> Vec<String> {
            let names = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let is_known = schema.keys().any(|keyword| is_fact(keyword));
        is_known.then(|| {
            Box::new(Self {
                rust_type: schema.get(RUST_TYPE).and_then(Value::as_str).map(RustType::from_name),
                aliases: names(ALIASES),
                variant_aliases: names(VARIANT_ALIASES),
            })
        })
    }

    /// Joins the facts of two schemas for the same value.
    pub(super) fn merge(one: Option<Box<Self>>, other: Option<Box<Self>>) -> Option<Box<Self>> {
        match (one, other) {
            (Some(mut one), Some(other)) => {
                one.rust_type = one.rust_type.or(other.rust_type);
                one.aliases.extend(other.aliases);
                one.variant_aliases.extend(other.variant_aliases);
                Some(one)
            }
            (one, other) => one.or(other),
        }
    }
}

/// The Rust type behind a number or a string.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RustType {
    /// An integer with its bounds. `usize` and `isize` count as 64 bits wide. The upper bound of `u128` is none: no number
    /// in a schema is larger.
    Integer {
        least: i128,
        most: Option<i128>,
    },
    Float32,
    Float64,
    /// A type that accepts every string.
    String,
    /// A type that is parsed or converted, and may refuse values.
    Parsed(String),
}

impl RustType {
    fn from_name(name: &str) -> Self {
        let integer = |least: i128, most: i128| Self::Integer { least, most: Some(most) };
        match name {
            "u8" => integer(0, u8::MAX.into()),
            "u16" => integer(0, u16::MAX.into()),
            "u32" => integer(0, u32::MAX.into()),
            "u64" | "usize" => integer(0, u64::MAX.into()),
            "u128" => Self::Integer { least: 0, most: None },
            "i8" => integer(i8::MIN.into(), i8::MAX.into()),
            "i16" => integer(i16::MIN.into(), i16::MAX.into()),
            "i32" => integer(i32::MIN.into(), i32::MAX.into()),
            "i64" | "isize" => integer(i64::MIN.into(), i64::MAX.into()),
            "i128" => integer(i128::MIN, i128::MAX),
            "f32" => Self::Float32,
            "f64" => Self::Float64,
            "String" => Self::String,
            name => Self::Parsed(name.to_owned()),
        }
    }
}

pub(super) fn rust_type(rules: &SchemaRules) -> Option<&RustType> {
    rules.facts.as_ref()?.rust_type.as_ref()
}

/// Returns the bounds of both sides. If their integer types differ, a bound that a schema lacks is the type's.
pub(super) fn bounds(old: &SchemaRules, new: &SchemaRules) -> [[Option<NumberLimit>; 2]; 2] {
    let own = |rules: &NumberRules| [rules.least, rules.most];
    let filled = |rules: &NumberRules, least: i128, most: Option<i128>| {
        let bound = |value| NumberLimit { value: ExactNumber::Whole(value), exclusive: false };
        [rules.least.or(Some(bound(least))), rules.most.or(most.map(bound))]
    };
    match (rust_type(old), rust_type(new)) {
        (Some(was), Some(is)) if was == is => [own(&old.number), own(&new.number)],
        (
            Some(RustType::Integer { least: old_least, most: old_most }),
            Some(RustType::Integer { least: new_least, most: new_most }),
        ) => [filled(&old.number, *old_least, *old_most), filled(&new.number, *new_least, *new_most)],
        _ => [own(&old.number), own(&new.number)],
    }
}

/// The arguments of the new side whose facts are known: their paths, and whether their values are validated.
pub(super) type KnownArguments = [(String, bool)];

fn known_argument(known: &KnownArguments, path: &str) -> Option<bool> {
    let is_below = |argument: &str| {
        path.strip_prefix(argument).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '(']))
    };
    known.iter().find(|(argument, _)| is_below(argument)).map(|(_, is_validated)| *is_validated)
}

impl<'s> SchemaComparison<'s, '_> {
    /// Compares the conversions of values. Returns `true` if that covers their format.
    pub(super) fn conversions(&mut self, path: &str, old: &SchemaRules, new: &SchemaRules) -> bool {
        let (Some(was), Some(is)) = (rust_type(old), rust_type(new)) else { return false };
        match (was, is) {
            (was, is) if was == is => false,
            (RustType::Float64, RustType::Float32) => {
                self.report(path, DifferenceEffect::Narrowed, "is rounded to `f32`; it was `f64`");
                false
            }
            (RustType::Float32, RustType::Float64) => {
                self.report(path, DifferenceEffect::Widened, "is `f64`; it was rounded to `f32`");
                false
            }
            // A format says the same, and is compared for itself.
            (_, RustType::Parsed(_)) if new.text.format.is_some() => false,
            (RustType::Parsed(was), RustType::Parsed(is)) => {
                self.report(path, DifferenceEffect::Unclear, format!("is parsed as `{is}`; it was `{was}`"));
                true
            }
            (_, RustType::Parsed(is)) => {
                let message = format!("is parsed as `{is}`, which may refuse values that were accepted");
                self.report(path, DifferenceEffect::Narrowed, message);
                true
            }
            (RustType::Parsed(was), _) if old.text.format.is_none() => {
                self.report(path, DifferenceEffect::Widened, format!("is no longer parsed as `{was}`"));
                true
            }
            _ => false,
        }
    }

    /// Returns the new property that reads the values sent under an old name.
    pub(super) fn alias_target(&self, name: &str, old: &ObjectRules, new: &'s ObjectRules) -> Option<&'s str> {
        // A call that sends two names of one field is refused.
        let reads = |(new_name, schema): &(&String, &Schema)| {
            !old.properties.contains_key(*new_name) && aliases(schema).iter().any(|alias| alias == name)
        };
        new.properties.iter().find(reads).map(|(new_name, _)| new_name.as_str())
    }

    /// Reports a property that has a new name and is read under the old one, too. The validator knows no aliases: it
    /// misses a required property under its new name, and a closed object refuses the old name.
    pub(super) fn aliased(&mut self, path: &str, was: &str, is: &str, new: &ObjectRules) {
        let is_closed =
            [&new.additional, &new.unevaluated].into_iter().any(|other| matches!(other, Some(Schema::Nothing)));
        let is_refused = known_argument(self.sides.known, path) == Some(true) && (is_closed || is_required(new, is));
        let (effect, consequence) = match is_refused {
            true => (
                DifferenceEffect::Lost,
                format!(
                    "calls that send it are refused although `{is}` has `#[serde(alias = {was:?})]`: the argument is \
                     validated against its schema, which has no aliases"
                ),
            ),
            false if path == ARGUMENTS => (DifferenceEffect::Gained, "its old name is an alias".to_owned()),
            false => (DifferenceEffect::Gained, format!("it is still read (`#[serde(alias = {was:?})]`)")),
        };
        self.report(&property(path, was), effect, format!("was renamed to `{is}`; {consequence}"));
    }

    /// Returns `true` if the aliases of the properties at this path are known.
    pub(super) fn knows_aliases(&self, path: &str) -> bool {
        known_argument(self.sides.known, path).is_some()
    }

    /// Returns `true` if a value that the new schema does not list is the alias of a variant, and is read.
    pub(super) fn is_variant_alias(&self, path: &str, value: &Value, new: &SchemaRules) -> bool {
        let aliases = new.facts.as_ref().map(|facts| facts.variant_aliases.as_slice()).unwrap_or_default();
        known_argument(self.sides.known, path) != Some(true)
            && value.as_str().is_some_and(|name| aliases.iter().any(|alias| alias == name))
    }
}

fn aliases(schema: &Schema) -> &[String] {
    match schema {
        Schema::Rules(rules) => rules.facts.as_ref().map(|facts| facts.aliases.as_slice()).unwrap_or_default(),
        Schema::Anything | Schema::Nothing => &[],
    }
}
