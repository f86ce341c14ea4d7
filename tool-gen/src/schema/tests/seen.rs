//! Types that are read, and those that are reported as unseen.

use super::*;

#[test]
fn types_of_the_language() {
    same!(
        u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool, char, str, String, (), (u8,),
        (u8, String, Option<bool>), [u8; 0], [u8; 3], [Struct; 2], &'static str, &'static [u8], Option<u8>,
        Option<Option<u8>>, Option<Struct>, Option<Option<Struct>>, Vec<Option<Struct>>, Box<Struct>, Option<Box<u8>>,
        Option<()>, Result<u8, String>, Option<Result<u8, String>>, Vec<Vec<u8>>
    );
}

#[test]
fn types_of_the_standard_library() {
    same!(
        std::path::PathBuf, std::path::Path, std::collections::VecDeque<u8>, std::collections::LinkedList<u8>,
        std::collections::HashSet<String>, std::collections::BTreeSet<Struct>, std::collections::BinaryHeap<u8>,
        std::collections::HashMap<String, Struct>, std::collections::BTreeMap<u8, u8>,
        std::collections::BTreeMap<i8, u8>, std::collections::BTreeMap<Bare, u8>,
        std::collections::BTreeMap<Documented, u8>, std::collections::BTreeMap<char, u8>,
        std::collections::BTreeMap<Untagged, u8>, std::collections::BTreeMap<serde_json::Value, u8>,
        std::collections::HashMap<Pattern, Struct>, std::collections::HashMap<Option<String>, u8>,
        std::rc::Rc<u8>, std::rc::Weak<u8>, std::sync::Arc<str>, std::borrow::Cow<'static, str>, std::sync::Mutex<Struct>,
        std::sync::RwLock<u8>, std::cell::Cell<u8>, std::cell::RefCell<u8>, std::num::Wrapping<u8>,
        std::cmp::Reverse<u8>, std::marker::PhantomData<u8>, std::sync::atomic::AtomicU8,
        std::sync::atomic::AtomicBool, std::sync::atomic::AtomicIsize,
        std::num::NonZeroU8, std::num::NonZeroU16, std::num::NonZeroU32, std::num::NonZeroU64, std::num::NonZeroU128,
        std::num::NonZeroUsize, std::num::NonZeroI8, std::num::NonZeroI16, std::num::NonZeroI32, std::num::NonZeroI64,
        std::num::NonZeroI128, std::num::NonZeroIsize, std::num::NonZero<u32>, std::time::Duration,
        std::time::SystemTime, std::ops::Range<u8>, std::ops::RangeInclusive<Struct>, std::ops::Bound<u8>,
        Option<std::ops::Bound<Struct>>, std::net::Ipv4Addr, std::net::Ipv6Addr, std::net::IpAddr,
        std::net::SocketAddr, std::net::SocketAddrV4, std::net::SocketAddrV6, std::ffi::CString, std::ffi::OsString,
        std::ffi::OsStr, std::ffi::CStr
    );
}

#[test]
fn types_of_libraries() {
    same!(
        chrono::DateTime<chrono::Utc>, chrono::NaiveDate, chrono::NaiveDateTime, chrono::NaiveTime, chrono::Weekday,
        chrono::TimeDelta, chrono::Duration, Option<chrono::Weekday>, uuid::Uuid, url::Url, serde_json::Value,
        serde_json::Map<String, serde_json::Value>, serde_json::Number, schemars::Schema, Option<serde_json::Value>
    );
}

#[test]
fn structs() {
    same!(
        Struct,
        Unit,
        Newtype,
        NewtypeOfStruct,
        Pair,
        EmptyStruct,
        EmptyTuple,
        Renamed,
        RenamedAll,
        RenamedByDirection,
        Skips,
        SkipsInTuple,
        Options,
        Denies,
        Transparent,
        TransparentDocumented,
        TransparentStruct,
        Flattened,
        FlattenedOption,
        FlattenedEnums,
        FlattenedMap,
        FlattenedValue,
        FlattenedDenying,
        FlattenedTwice,
        FlattenedBare,
        FlattenedUntagged,
        FlattenedOptionalUntagged,
        FlattenedOpen,
        FlattenedOpenTo,
        FlattenedClosed,
        From,
        TryFrom,
        Into,
        FromInto,
        With,
        WithContainer,
        Aliased,
        Remote,
        Overridden,
        Recursive,
        Mutual,
        OwnName,
        Inlined,
        UsesInlined,
        Tagged,
        OptionalTransparent,
        SerdeWith,
        NotSkipped
    );
}

#[test]
fn enums() {
    same!(
        Bare,
        Documented,
        Mixed,
        External,
        Internal,
        Adjacent,
        Untagged,
        PartlyUntagged,
        InternalUntagged,
        AdjacentUntagged,
        RenamedVariants,
        SkippedVariants,
        InternalDenying,
        AdjacentDenying,
        ExternalDenying,
        Never,
        InternalOfStructs,
        VariantWith,
        RefVariants,
        RefVariantsInternal,
        OtherVariant,
        Option<Bare>,
        Option<Documented>,
        Option<External>,
        Vec<Internal>,
        RenamedFields,
        Numbers,
        EmptyVariants,
        VariantAttributes
    );
}

#[test]
#[expect(deprecated, reason = "what is deprecated says so")]
fn documentation() {
    same!(Titled, OnlyTitle, BlankLines, Indented, DocAttributes, Described, Deprecated, WithConstants, Raw);
}

#[test]
fn attributes_of_schemars() {
    same!(Validated, ValidatedByOthers, Inner, Extended, Examples, ExtendedEnum);
}

#[test]
fn generic_types() {
    same!(
        Page<Struct>, Page<Vec<u8>>, TwoPages, NamedPage<Struct>, NamedPage<Option<Vec<u8>>>, NamedPages, Phantom<u8>,
        PhantomTwice, Both<Struct, Bare>, GenericEnum<u8>, GenericDefault<Struct>, GenericSerialize<u8>, Clashing,
        OddlyNamed, UsesOddlyNamed, Page<Page<Struct>>, GenericOwnName<u8>, GenericOwnName<Vec<Struct>>
    );
}

#[test]
fn defaults() {
    same!(
        DefaultFields,
        DefaultPaths,
        DefaultContainer,
        DefaultContainerByHand,
        DefaultContainerFunction,
        DefaultSkipped,
        DefaultNotSerialised,
        DefaultNested,
        DefaultNumbers,
        DefaultEnums,
        DefaultSerdeForms,
        DefaultGenericHolder
    );
}

#[test]
fn combinations() {
    same!(
        Lifetimes<'static>, UsesThrough, ThroughValidated, MoreFields, MoreVariants, MoreAdjacent, MoreUntagged,
        SkippedFields, Bounded<Struct, Bare>, Unbound<u8>, Settings, InlineEnum, Vec<InlineEnum>,
        std::collections::HashMap<Bare, Vec<MoreVariants>>
    );
}

#[test]
fn definitions_are_shared() {
    let source = Source::parse_all(types::SOURCE);
    let shapes = TypeShapes::new(&source);
    let mut real = SchemaSettings::draft2020_12().into_generator();
    let mut generator = SchemaGenerator::new(&shapes, SchemaContract::Deserialize);
    let expected = [
        real.subschema_for::<types::a::Same>(),
        real.subschema_for::<types::b::Same>(),
        real.subschema_for::<types::Clashing>(),
    ];
    let computed = ["a::Same", "b::Same", "Clashing"].map(|ty| generator.subschema_for(&source.ty(ty)));
    assert_eq!(computed, expected.map(Value::from));
    assert_eq!(generator.into_definitions(), real.take_definitions(true));
}

#[test]
fn defaults_are_never_guessed() {
    let source = Source::parse(
        r#"
        #[derive(JsonSchema)]
        struct Defaults {
            #[serde(default = "address")] a: std::net::Ipv4Addr,
            #[serde(default = "duration")] b: std::time::Duration,
            #[serde(default = "number")] c: std::num::NonZeroU8,
            #[serde(default = "set")] d: std::collections::HashSet<u8>,
            #[serde(default = "map")] e: std::collections::BTreeMap<String, u8>,
            #[serde(default = "computed")] f: u8,
            #[serde(default = "elsewhere::f")] g: u8,
            #[serde(default)] h: ByHand,
            #[serde(default)] i: chrono::NaiveDate,
            #[serde(default, skip_serializing_if = "is_zero")] j: u8,
            #[serde(default, serialize_with = "write")] k: u8,
            #[serde(default = "converted")] l: ByHand,
            #[serde(default = "made::default")] m: u8,
            #[serde(default = "converted_default")] n: Derived,
            #[serde(default = "converted_variant")] o: Choice,
            #[serde(default = "converted_struct")] p: Derived,
        }
        fn address() -> std::net::Ipv4Addr { std::net::Ipv4Addr::new(127, 0, 0, 1) }
        fn duration() -> std::time::Duration { std::time::Duration::new(1, 2) }
        fn number() -> std::num::NonZeroU8 { std::num::NonZeroU8::new(3).unwrap() }
        fn set() -> std::collections::HashSet<u8> { std::collections::HashSet::from([1, 2]) }
        fn map() -> std::collections::BTreeMap<String, u8> { std::collections::BTreeMap::from([("a".into(), 1)]) }
        fn computed() -> u8 { if true { 1 } else { 2 } }
        fn converted() -> ByHand { Other(1).into() }
        fn converted_default() -> Derived { Other::default().into() }
        fn converted_variant() -> Choice { OtherChoice::A.into() }
        fn converted_struct() -> Derived { Another { a: 1 }.into() }
        mod made { pub fn default() -> u8 { 5u8.pow(2) } }
        #[derive(Default)] struct Other(u8);
        struct Another { a: u8 }
        #[derive(JsonSchema, Serialize, Default)] struct Derived { a: u8 }
        #[derive(JsonSchema, Serialize)] enum Choice { A }
        enum OtherChoice { A }
        #[derive(JsonSchema, Serialize)] struct ByHand(u8);
        impl Default for ByHand { fn default() -> Self { make() } }
        "#,
    );
    let lost = unseen(&source, "Defaults");
    let expected = ('a'..='p').map(|name| (format!("the default of `{name}`"), LossKind::Detail));
    assert_eq!(lost, expected.collect::<Vec<_>>());
}

#[test]
fn reports_unseen_types() {
    let source = Source::parse(
        r#"
        #[derive(JsonSchema)] struct ByFunction { #[schemars(schema_with = "f")] a: u8 }
        #[derive(JsonSchema)] struct Foreign { a: Vec<geo::Point> }
        #[derive(JsonSchema)] #[schemars(transform = f)] struct Transformed { a: u8 }
        struct ByHand; impl JsonSchema for ByHand {}
        struct Underived;
        #[derive(JsonSchema)] struct UnseenDefault { #[serde(default = "f")] a: u8, b: u8 }
        fn f() -> u8 { let a = 5; a }
        #[derive(JsonSchema)] #[schemars(inline)] struct Endless { a: Vec<Endless> }
        #[derive(JsonSchema)] #[serde(transparent)] struct Itself(Box<Itself>);
        #[derive(JsonSchema)] #[serde(transparent)] struct Entries(BTreeMap<String, Entries>);
        #[derive(JsonSchema)] struct Const<const N: usize>([u8; N]);
        #[derive(JsonSchema)] struct Length([u8; N]);
        "#,
    );
    let lost = |ty: &str| (ty.to_owned(), LossKind::Type);
    assert_eq!(unseen(&source, "ByFunction"), [lost("f")]);
    let part = |ty: &str| (ty.to_owned(), LossKind::Leaf);
    assert_eq!(unseen(&source, "Foreign"), [part("geo::Point")]);
    assert_eq!(unseen(&source, "Transformed"), [lost("f")]);
    assert_eq!(unseen(&source, "ByHand"), [part("ByHand")]);
    assert_eq!(unseen(&source, "Option<Underived>"), [part("Underived")]);
    assert_eq!(unseen(&source, "UnseenDefault"), [("the default of `a`".to_owned(), LossKind::Detail)]);
    for endless in ["Endless", "Itself", "Entries"] {
        let found = unseen(&source, endless);
        assert!(!found.is_empty() && found.iter().all(|(_, loss)| *loss == LossKind::Program), "{endless}: {found:?}");
    }
    assert_eq!(unseen(&source, "Const"), [part("Const")]);
    assert_eq!(unseen(&source, "Length"), [part("[u8; _]")]);
}
