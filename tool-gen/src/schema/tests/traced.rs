//! Types without `JsonSchema`: the program's trace must equal what is read from source.

use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;

use serde::Deserialize;
use tool_model::trace::{TracedSchemas, TracedType, trace};

use super::super::traced::traced;
use super::*;

/// Returns the differences between the trace of a type and what its source shows. Parts that the source does not show are
/// left out.
pub(super) fn differences<T: Deserialize<'static>>(source: &Source, written: &str) -> Vec<String> {
    let shapes = TypeShapes::new(source);
    let (computed, unseen) = traced(&shapes, &source.ty(written));
    let schemas = |traced: &TracedType| {
        let mut definitions = Map::new();
        let schema = TracedSchemas::default().schema(traced, &mut definitions);
        (schema.unwrap_or(Value::Bool(true)), definitions)
    };
    let (expected, computed) = (schemas(&trace::<T>()), schemas(&computed));
    // References are never deserialized, and the last two have no values.
    let is_exempt = written.starts_with('&') || ["OwnName", "OwnNameEnum"].contains(&written);
    if expected == computed || !unseen.is_empty() || is_exempt {
        return Vec::new();
    }
    vec![format!("{written} (traced)\n{}", both(&expected, &computed))]
}

/// Compares types that are `Deserialize`.
pub(super) struct TraceProbe<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> TraceProbe<T> {
    pub(super) const NEW: Self = Self(PhantomData);
}

impl<T: Deserialize<'static>> TraceProbe<T> {
    pub(super) fn differences(&self, source: &Source, written: &str) -> Vec<String> {
        differences::<T>(source, written)
    }
}

/// A type that is not `Deserialize`.
pub(super) trait NotDeserialize {
    fn differences(&self, _: &Source, _: &str) -> Vec<String> {
        Vec::new()
    }
}

impl<T: ?Sized> NotDeserialize for &TraceProbe<T> {}

macro_rules! same_traced {
    ($source:expr; $($ty:ty),* $(,)?) => {{
        let source = Source::parse_all(&[$source]);
        let mut wrong = Vec::new();
        $(wrong.extend(differences::<$ty>(&source, stringify!($ty)));)*
        $(
            let (_, unseen) = traced(&TypeShapes::new(&source), &source.ty(stringify!($ty)));
            assert!(unseen.is_empty(), "{}: {unseen:?}", stringify!($ty));
        )*
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    }};
}

#[path = "traced_types.rs"]
mod traced_types;

#[test]
fn the_source_shows_what_a_trace_finds() {
    use traced_types::*;
    same_traced!(
        include_str!("traced_types.rs");
        Task, Options, Level, Shape, Wrapper, Couple, Nothing, Generic<u8>, Generic<Level>, Both, Recursive, Converted,
        Delegating, Visiting, Number, Clock, Tagged, Adjacent, Open, Untagged, PartlyUntagged, Flat, Aliased, Named,
        Vec<Task>, Option<Level>, BTreeMap<Level, Task>, HashMap<u16, Named>, (Task, Level), [Couple; 2], Box<Shape>,
        Libraries, Transparent, Newtypes, Ranges, Tree, Chained, Forest, ChangeSet, Vec<std::collections::HashSet<u8>>, Colors, Wide,
        Vec<Recursive>, FieldVisitorOptions,
    );
}

/// The program has no sample value of a hash, so it takes the field behind it for required.
#[test]
fn a_struct_is_unknown_where_the_program_has_to_guess() {
    let source = Source::parse_all(&[include_str!("traced_types.rs")]);
    let (computed, unseen) = traced(&TypeShapes::new(&source), &source.ty("Ambiguous"));
    assert!(TracedSchemas::default().schema(&computed, &mut Map::new()).is_none());
    assert_eq!(unseen.iter().map(|part| part.what.as_str()).collect::<Vec<_>>(), ["Ambiguous"]);
    let mut definitions = Map::new();
    TracedSchemas::default().schema(&trace::<traced_types::Ambiguous>(), &mut definitions);
    assert_eq!(definitions["Ambiguous"]["required"], serde_json::json!(["hash", "rest"]));
}

/// The program has no sample value of a hash, so it does not reach what stands behind one.
#[test]
fn items_behind_a_part_without_a_sample_value_are_unknown() {
    let source = Source::parse_all(&[include_str!("traced_types.rs")]);
    let schemas = |traced: &TracedType| {
        let mut definitions = Map::new();
        (TracedSchemas::default().schema(traced, &mut definitions), definitions)
    };
    let (computed, unseen) = traced(&TypeShapes::new(&source), &source.ty("Hashes"));
    assert!(!unseen.is_empty());
    assert_eq!(schemas(&computed), schemas(&trace::<traced_types::Hashes>()));
}

/// Without the feature `time` writes numbers in an array, and the generator must not claim a string.
#[test]
fn types_of_time_are_unknown_without_the_feature_for_readable_forms() {
    let mut source = Source::parse_all(&[""]);
    let (computed, unseen) = traced(&TypeShapes::new(&source), &source.ty("time::Date"));
    assert_eq!(TracedSchemas::default().schema(&computed, &mut Map::new()).unwrap()["format"], "date");
    assert!(unseen.is_empty(), "{unseen:?}");
    source.has_features = false;
    let (computed, unseen) = traced(&TypeShapes::new(&source), &source.ty("time::Date"));
    assert!(TracedSchemas::default().schema(&computed, &mut Map::new()).is_none());
    assert!(unseen[0].why.contains("`serde-human-readable`"), "{unseen:?}");
}

macro_rules! library_types {
    ($($ty:ty),* $(,)?) => {
        /// Every library type that has a row: the schemas of schemars, of a trace and of the source agree.
        #[test]
        fn libraries_have_one_schema() {
            let source = Source::parse_all(&[""]);
            let mut wrong = Vec::new();
            $(wrong.extend(super::differences::<$ty>(&source, stringify!($ty)));)*
            $(
                let mut real = schemars::generate::SchemaSettings::draft2020_12().for_deserialize().into_generator();
                let mut assembled = tool_model::Assembly::default();
                let described = Value::from(real.subschema_for::<$ty>());
                assembled.arguments.push(("described".into(), raw(described)));
                assembled.defs = real.take_definitions(true);
                let traced = TracedSchemas::default().schema(&trace::<$ty>(), &mut assembled.defs);
                assembled.arguments.push(("traced".into(), raw(traced.unwrap())));
                let mut tool = tool_model::ToolDefinition::default();
                assembled.finish(&mut tool);
                assert_eq!(tool.arguments["described"], tool.arguments["traced"], "{}", stringify!($ty));
                let pair = TracedSchemas::default().schema(&trace::<($ty, bool)>(), &mut Map::new()).unwrap();
                assert_eq!(pair["prefixItems"][1]["type"], "boolean", "no sample value of {} is accepted", stringify!($ty));
            )*
            assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
        }
    };
}

library_types! {
    chrono::DateTime<chrono::Utc>, chrono::NaiveDate, chrono::NaiveDateTime, chrono::NaiveTime, chrono::Weekday,
    jiff::Timestamp, jiff::Zoned, jiff::SignedDuration, jiff::Span, jiff::civil::Date, jiff::civil::Time,
    jiff::civil::DateTime, uuid::Uuid, url::Url, rust_decimal::Decimal, bigdecimal::BigDecimal, bytes::Bytes,
    bytes::BytesMut, semver::Version, smol_str::SmolStr, either::Either<u8, String>, indexmap::IndexMap<String, u8>,
    indexmap::IndexSet<u8>, std::net::IpAddr, std::net::Ipv4Addr, std::net::Ipv6Addr, std::net::SocketAddr,
    std::net::SocketAddrV4, std::net::SocketAddrV6, std::num::NonZeroU8, std::num::NonZeroI16, std::num::NonZero<u64>,
}

fn raw(schema: Value) -> tool_model::RawArgument {
    tool_model::RawArgument {
        schema: Some(schema),
        optional: false,
        variants: Vec::new(),
        description: None,
        default: None,
        or_default: false,
        aliases: Vec::new(),
        rules: Vec::new(),
        secret: false,
    }
}
