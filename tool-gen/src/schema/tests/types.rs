//! Types that are compiled and parsed.
#![allow(dead_code, missing_docs, deprecated, clippy::all)]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;

/// A struct.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Struct {
    /// A number.
    pub number: u32,
    pub text: Option<String>,
}

#[derive(JsonSchema, Serialize)]
pub struct Unit;
#[derive(JsonSchema, Serialize)]
pub struct Newtype(u8);
/// Documented.
#[derive(JsonSchema, Serialize)]
pub struct NewtypeOfStruct(
    /// The field.
    Struct,
);
#[derive(JsonSchema, Serialize)]
pub struct Pair(u8, #[schemars(range(min = 1))] u16);
#[derive(JsonSchema, Serialize)]
pub struct EmptyStruct {}
#[derive(JsonSchema, Serialize)]
pub struct EmptyTuple();
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(rename = "Other name")]
pub struct Renamed {
    #[serde(rename = "type")]
    kind: u8,
    r#fn: u8,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RenamedAll {
    first_name: String,
    #[serde(rename = "LAST")]
    last_name: String,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(rename_all(serialize = "SCREAMING_SNAKE_CASE", deserialize = "kebab-case"))]
pub struct RenamedByDirection {
    first_name: String,
    #[serde(rename(serialize = "out", deserialize = "in"))]
    last_name: String,
    #[serde(rename(serialize = "only_out"))]
    third_name: Option<String>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Skips {
    #[serde(skip)]
    never: u8,
    #[serde(skip_serializing)]
    read: u8,
    #[serde(skip_deserializing)]
    written: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    sometimes: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    both: Option<u8>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct SkipsInTuple(#[serde(skip)] u8, u16, #[serde(skip_serializing)] u32, #[serde(skip_deserializing)] u64);
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct NotSkipped {
    #[serde(skip)]
    #[schemars(!skip)]
    there: u8,
    #[serde(rename = "x")]
    #[schemars(!rename)]
    here: u8,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Options {
    a: Option<u8>,
    #[schemars(required)]
    b: Option<u8>,
    #[schemars(required)]
    c: Option<Struct>,
    d: Option<Option<Struct>>,
    e: Box<Option<u8>>,
    #[serde(default)]
    f: Option<Struct>,
    g: Option<Vec<Struct>>,
    h: Option<Bare>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Denies {
    a: u8,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Transparent {
    a: u8,
}
/// Documented.
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TransparentDocumented(Struct);
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TransparentStruct {
    inner: Struct,
    #[serde(skip)]
    other: u8,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TransparentOption(Option<u8>);
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct OptionalTransparent {
    a: TransparentOption,
    #[schemars(required)]
    b: TransparentOption,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Flattened {
    own: u8,
    #[serde(flatten)]
    rest: Struct,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedOption {
    own: u8,
    #[serde(flatten)]
    rest: Option<Struct>,
    #[serde(flatten)]
    choice: Option<External>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedEnums {
    own: u8,
    #[serde(flatten)]
    a: External,
    #[serde(flatten)]
    b: Internal,
    #[serde(flatten)]
    c: Adjacent,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedBare {
    #[serde(flatten)]
    a: Bare,
    #[serde(flatten)]
    #[schemars(required)]
    b: Option<Mixed>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedUntagged {
    #[serde(flatten)]
    a: Untagged,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedOptionalUntagged {
    x: u8,
    #[serde(flatten)]
    a: Option<Untagged>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedMap {
    own: u8,
    #[serde(flatten)]
    rest: HashMap<String, Struct>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedValue {
    own: u8,
    #[serde(flatten)]
    rest: serde_json::Value,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedDenying {
    own: u8,
    #[serde(flatten)]
    a: Denies,
    #[serde(flatten)]
    b: InternalDenying,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedTwice {
    #[serde(flatten)]
    a: FlattenedEnums,
    #[serde(flatten)]
    b: BTreeMap<u8, u8>,
}
#[derive(JsonSchema, Serialize, Deserialize, Clone)]
#[serde(from = "Struct")]
pub struct From {
    a: u8,
}
impl std::convert::From<Struct> for From {
    fn from(_: Struct) -> Self {
        From { a: 0 }
    }
}
#[derive(JsonSchema, Serialize, Deserialize, Clone)]
#[serde(try_from = "String")]
pub struct TryFrom {
    a: u8,
}
impl std::convert::TryFrom<String> for TryFrom {
    type Error = String;
    fn try_from(_: String) -> Result<Self, String> {
        Ok(TryFrom { a: 0 })
    }
}
#[derive(JsonSchema, Serialize, Deserialize, Clone)]
#[serde(into = "Struct")]
pub struct Into {
    a: u8,
}
impl std::convert::From<Into> for Struct {
    fn from(_: Into) -> Self {
        Struct::default()
    }
}
/// Both ways.
#[derive(JsonSchema, Serialize, Deserialize, Clone)]
#[serde(from = "u8", into = "Struct")]
pub struct FromInto {
    a: u8,
}
impl std::convert::From<u8> for FromInto {
    fn from(_: u8) -> Self {
        FromInto { a: 0 }
    }
}
impl std::convert::From<FromInto> for Struct {
    fn from(_: FromInto) -> Self {
        Struct::default()
    }
}
#[derive(JsonSchema)]
pub struct With {
    #[schemars(with = "String")]
    a: u8,
    #[schemars(with = "Option<Struct>")]
    b: u8,
    #[schemars(with = "Struct")]
    c: Option<u8>,
}
mod as_text {
    pub fn serialize<S: serde::Serializer>(_: &u8, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("")
    }
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(_: D) -> Result<u8, D::Error> {
        Ok(0)
    }
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct SerdeWith {
    #[serde(with = "as_text")]
    #[schemars(with = "String")]
    a: u8,
}
#[derive(JsonSchema)]
pub struct WithContainerUser(WithContainer);
#[derive(JsonSchema)]
#[schemars(with = "Struct")]
pub struct WithContainer(PhantomData<u8>);
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Aliased {
    #[serde(alias = "b", alias = "c")]
    a: u8,
}
pub struct Far {
    pub a: u8,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(remote = "Far")]
pub struct Near {
    pub a: u8,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Remote {
    #[serde(with = "Near")]
    far: Far,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Over", rename_all = "PascalCase", !deny_unknown_fields)]
pub struct Overridden {
    some_field: u8,
    #[serde(rename = "x")]
    #[schemars(rename = "y")]
    other_field: u8,
    #[serde(default)]
    #[schemars(!default)]
    third: u8,
    #[schemars(skip)]
    fourth: u8,
}
/// Holds itself.
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Recursive {
    children: Vec<Recursive>,
    parent: Option<Box<Recursive>>,
    by_name: HashMap<String, Recursive>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Mutual {
    other: Option<Box<Mutual2>>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Mutual2 {
    other: Option<Box<Mutual>>,
}
/// Written out.
#[derive(JsonSchema, Serialize, Deserialize)]
#[schemars(inline)]
pub struct Inlined {
    a: Struct,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct UsesInlined {
    /// My own words.
    a: Inlined,
    b: Option<Inlined>,
    /// Of a reference.
    c: Struct,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub struct Tagged {
    a: u8,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "lowercase")]
pub enum Bare {
    One,
    #[default]
    Two,
    #[serde(rename = "III", alias = "drei")]
    Three,
}
/// Has words.
#[derive(JsonSchema, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub enum Documented {
    /// The first.
    One,
    Two,
    /// The third.
    Three,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub enum Mixed {
    Plain,
    With(u8),
    /// Words.
    Said,
    Other,
}
/// An enum.
#[derive(JsonSchema, Serialize, Deserialize)]
pub enum External {
    Unit,
    Newtype(u8),
    Of(Struct),
    Tuple(u8, String),
    /// With fields.
    Fields {
        /// A field.
        a: u8,
        b: Option<u8>,
        #[serde(default)]
        c: u8,
    },
    /// Nothing in it.
    None,
    Optional(Option<Struct>),
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum Internal {
    Unit,
    Of(Struct),
    /// Fields.
    Fields {
        a: u8,
        #[serde(rename = "bb")]
        b: Option<u8>,
    },
    Empty {},
    UnitStruct(Unit2),
    Denied(Denies),
    Map(BTreeMap<String, u8>),
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Unit2;
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum InternalOfStructs {
    A(FlattenedEnums),
    B(FlattenedDenying),
    C(Inlined),
    D(Internal),
    E(Box<Struct>),
    F(#[schemars(required)] Option<Struct>),
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
pub enum Adjacent {
    Unit,
    /// Words.
    Newtype(Struct),
    Tuple(u8, u8),
    Fields {
        a: u8,
    },
}
#[derive(JsonSchema, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(untagged)]
pub enum Untagged {
    Unit,
    /// A number.
    Number(u8),
    Text(String),
    Fields {
        a: u8,
    },
    Of(Struct),
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub enum PartlyUntagged {
    A,
    B(u8),
    #[serde(untagged)]
    C(String),
    #[serde(untagged)]
    D {
        x: u8,
    },
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum InternalUntagged {
    A {
        x: u8,
    },
    /// Rest.
    #[serde(untagged)]
    C(String),
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
pub enum AdjacentUntagged {
    A {
        x: u8,
    },
    #[serde(untagged)]
    C(String),
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(rename_all(serialize = "UPPERCASE", deserialize = "snake_case"))]
pub enum RenamedVariants {
    FirstOne,
    #[serde(rename(serialize = "two!"))]
    SecondOne,
    ThirdOne(u8),
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(rename_all_fields = "camelCase")]
pub enum RenamedFields {
    A {
        some_field: u8,
    },
    #[serde(rename_all = "UPPERCASE")]
    B {
        some_field: u8,
    },
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub enum SkippedVariants {
    A,
    #[serde(skip)]
    B,
    #[serde(skip_serializing)]
    C,
    #[serde(skip_deserializing)]
    D,
    #[serde(skip_deserializing)]
    E(u8),
    #[serde(skip)]
    F(PhantomData<u8>),
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(tag = "t", deny_unknown_fields)]
pub enum InternalDenying {
    Unit,
    Fields { a: u8 },
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(tag = "t", content = "c", deny_unknown_fields)]
pub enum AdjacentDenying {
    Unit,
    Fields { a: u8 },
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum ExternalDenying {
    Unit,
    Fields { a: u8 },
}
#[derive(JsonSchema)]
pub enum Never {}
#[derive(JsonSchema)]
pub enum VariantWith {
    #[schemars(with = "String")]
    A,
    #[schemars(with = "Struct")]
    B(u8),
    C,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[schemars(_unstable_ref_variants)]
pub enum RefVariants {
    First,
    Second(u8),
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(tag = "t")]
#[schemars(_unstable_ref_variants)]
pub enum RefVariantsInternal {
    First,
    /// Words.
    Struct {
        a: Struct,
    },
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub enum OtherVariant {
    A,
    #[serde(other)]
    Rest,
}
#[derive(schemars::JsonSchema_repr)]
#[repr(u8)]
/// Numbers.
pub enum Numbers {
    A,
    B = 5,
    C,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub enum EmptyVariants {
    A(),
    B {},
    C(()),
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub enum VariantAttributes {
    #[deprecated]
    Old,
    #[schemars(title = "T", description = "D")]
    New,
    #[schemars(extend("x" = 1))]
    Extended,
    #[schemars(skip)]
    Gone,
}

/// # The title
///
/// And the text.
#[derive(JsonSchema)]
pub struct Titled {
    /// ## A title
    a: u8,
}
/// # Only
#[derive(JsonSchema)]
pub struct OnlyTitle;
///
/// First.
///
///
/// Second,
/// third.
///
#[derive(JsonSchema)]
pub struct BlankLines;
///   Indented
///     more
///less
/** block
comment */
#[derive(JsonSchema)]
pub struct Indented;
#[doc = "one"]
#[doc(hidden)]
#[doc = concat!("two", 3)]
#[derive(JsonSchema)]
pub struct DocAttributes;
const TITLE: &str = "A title";
/// Docs.
#[derive(JsonSchema)]
#[schemars(title = "Given", description = "also given")]
pub struct Described {
    /// Overridden
    #[schemars(description = "")]
    a: u8,
}
#[derive(JsonSchema)]
#[deprecated]
pub struct Deprecated {
    #[deprecated = "why"]
    a: Struct,
}
#[derive(JsonSchema)]
#[schemars(title = TITLE)]
pub struct WithConstants {
    #[schemars(range(min = LEAST, max = a::MOST), description = concat!("x", "y"))]
    a: u8,
    #[schemars(range(max = u8::MAX))]
    b: u8,
}
const LEAST: u8 = 2;
/// Raw \n text with "quotes" and \u{e4}.
#[derive(JsonSchema)]
pub struct Raw(#[doc = r" raw \d"] u8);

#[derive(JsonSchema)]
pub struct Validated {
    #[schemars(range(min = 1, max = 10))]
    a: u8,
    #[schemars(range(min = -1.5, max = 2.0))]
    b: f64,
    #[schemars(length(min = 1, max = 5))]
    c: String,
    #[schemars(length(equal = 3))]
    d: Vec<u8>,
    #[schemars(regex(pattern = r"^\d+$"))]
    e: String,
    #[schemars(pattern("a.*"))]
    f: Option<String>,
    #[schemars(email)]
    g: String,
    #[schemars(url)]
    h: String,
    #[schemars(contains(pattern = "a.b"))]
    i: String,
    #[schemars(contains("x*"))]
    j: String,
    #[schemars(length(min = 1), range(min = 1), pattern("x"))]
    k: Struct,
    #[schemars(ipv4)]
    l: String,
    #[schemars(length(min = "1", max = 2))]
    m: Option<Vec<String>>,
    #[schemars(ip)]
    n: String,
    #[schemars(ipv6)]
    o: String,
}
#[derive(JsonSchema)]
pub struct ValidatedByOthers {
    #[validate(range(min = 1), email(message = "x"))]
    a: u8,
    #[garde(length(min = 1, max = 2), pattern("a"))]
    b: String,
    #[validate(length(min = 4))]
    #[schemars(length(min = 1))]
    c: String,
    #[validate(required)]
    d: Option<u8>,
    #[garde(skip, url)]
    e: String,
    #[validate(contains(pattern = "a"), nested)]
    f: String,
}
#[derive(JsonSchema)]
pub struct Inner {
    #[schemars(inner(length(min = 1), pattern("x")))]
    a: Vec<String>,
    #[schemars(inner(inner(range(min = 3))), length(max = 4))]
    b: Vec<Vec<u8>>,
    #[schemars(inner(range(min = 3)))]
    c: u8,
    #[garde(inner(ascii, url))]
    d: Vec<String>,
}
#[derive(JsonSchema)]
#[schemars(extend("x-a" = "text", "x-b" = [1, -2, 2.5, null, true], "x-c" = {"k": {"n": [1,],}, "m": TITLE}))]
pub struct Extended {
    #[schemars(extend("type" = "string", "default" = null))]
    #[schemars(extend("more" = 1))]
    a: u8,
    /// Said.
    #[schemars(extend("description" = "over"))]
    b: Struct,
    #[schemars(extend("x" = 1))]
    c: serde_json::Value,
}
#[derive(JsonSchema)]
#[schemars(extend("x" = 1))]
pub enum ExtendedEnum {
    A,
    #[schemars(extend("y" = 2))]
    B(u8),
}
fn example() -> Struct {
    Struct { number: 4, text: Some("x".to_owned()) }
}
#[derive(JsonSchema)]
#[schemars(example = example(), example = &"text", example = 5, example = -1.5, example = [1, 2])]
pub struct Examples {
    #[schemars(example = true, example = Struct { number: 1, text: None }, example = Struct::default(), example = Bare::One)]
    a: u8,
}

/// A page.
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Page<T> {
    items: Vec<T>,
    next: Option<Box<Page<T>>>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct TwoPages {
    a: Page<u8>,
    b: Page<Struct>,
    c: Page<Vec<u8>>,
    d: Page<Vec<u8>>,
    e: Page<std::collections::VecDeque<u8>>,
}
#[derive(JsonSchema)]
#[schemars(rename = "{T}Page")]
pub struct NamedPage<T> {
    items: Vec<T>,
}
#[derive(JsonSchema)]
#[schemars(rename = "{{x}}{T}")]
pub struct Braces<T> {
    items: Vec<T>,
}
#[derive(JsonSchema)]
pub struct NamedPages {
    a: NamedPage<u8>,
    b: NamedPage<Struct>,
    c: NamedPage<HashMap<String, Bare>>,
    d: NamedPage<(u8, Option<bool>)>,
    e: NamedPage<std::collections::BTreeMap<u8, [Struct; 2]>>,
    f: NamedPage<Result<(), std::time::Duration>>,
    g: NamedPage<std::ops::Range<std::collections::HashSet<char>>>,
    h: Braces<Page<u8>>,
    i: NamedPage<std::ops::Bound<chrono::NaiveDate>>,
    j: NamedPage<[u8; 0]>,
}
#[derive(JsonSchema)]
pub struct Phantom<T> {
    a: PhantomData<T>,
    b: u8,
}
#[derive(JsonSchema)]
pub struct PhantomTwice {
    a: Phantom<u8>,
    b: Phantom<u16>,
    c: Skipped<u8>,
    d: Skipped<u16>,
}
#[derive(JsonSchema)]
pub struct Skipped<T> {
    #[schemars(skip)]
    a: T,
    b: u8,
}
#[derive(JsonSchema)]
pub struct Both<A, B> {
    a: A,
    b: Option<B>,
}
#[derive(JsonSchema)]
pub enum GenericEnum<T> {
    A(T),
    B { x: Vec<T> },
}
#[derive(JsonSchema, Deserialize)]
pub struct GenericDefault<T: Default> {
    #[serde(default)]
    a: T,
    #[serde(default)]
    b: Vec<T>,
    #[serde(default)]
    c: u8,
    #[serde(default)]
    d: PhantomData<T>,
}
#[derive(JsonSchema, Deserialize)]
pub struct GenericSerialize<T: Default + Serialize> {
    #[serde(default)]
    a: T,
}
#[derive(JsonSchema, Deserialize)]
pub struct DefaultGenericHolder {
    #[serde(default)]
    a: Holder<u8>,
}
#[derive(JsonSchema, Serialize, Deserialize, Default)]
pub struct Holder<T> {
    held: T,
    list: Vec<T>,
}
pub mod a {
    use schemars::JsonSchema;
    pub const MOST: u8 = 7;
    #[derive(JsonSchema)]
    pub struct Same {
        a: u8,
    }
}
pub mod b {
    use schemars::JsonSchema;
    #[derive(JsonSchema)]
    pub struct Same {
        b: u8,
        c: Other,
    }
    #[derive(JsonSchema)]
    #[schemars(rename = "Same2")]
    pub struct Other {
        b: u8,
    }
}
#[derive(JsonSchema)]
pub struct Clashing {
    x: b::Same,
    y: a::Same,
    z: b::Other,
}
#[derive(JsonSchema)]
#[schemars(rename = "Odd/~ näme <%>\t")]
pub struct OddlyNamed {
    a: u8,
}
#[derive(JsonSchema)]
pub struct UsesOddlyNamed(OddlyNamed);
#[derive(JsonSchema, PartialEq, Eq, Hash)]
#[schemars(transparent)]
pub struct Pattern(#[schemars(regex(pattern = "^a"))] String);

#[derive(JsonSchema, Deserialize)]
#[serde(default)]
pub struct Unused {
    a: u8,
}
impl Default for Unused {
    fn default() -> Self {
        Self { a: 1 }
    }
}
#[derive(JsonSchema, Deserialize)]
pub struct DefaultFields {
    #[serde(default)]
    a: u8,
    #[serde(default)]
    b: String,
    #[serde(default)]
    c: Option<u8>,
    #[serde(default)]
    d: Vec<Struct>,
    #[serde(default)]
    e: bool,
    #[serde(default)]
    f: f64,
    #[serde(default)]
    g: Struct,
    #[serde(default)]
    h: Bare,
    #[serde(default)]
    i: HashMap<String, u8>,
    #[serde(default)]
    j: (u8, String),
    #[serde(default)]
    k: [u8; 3],
    #[serde(default)]
    l: Box<Struct>,
    #[serde(default)]
    m: std::path::PathBuf,
    #[serde(default)]
    n: char,
    #[serde(default)]
    o: std::time::Duration,
    #[serde(default)]
    p: (),
    #[serde(default)]
    q: std::collections::BTreeSet<u8>,
    #[serde(default)]
    r: serde_json::Value,
    #[serde(default)]
    s: uuid::Uuid,
    #[serde(default)]
    t: i128,
}
fn ten() -> u8 {
    10
}
fn text() -> String {
    "text".to_string()
}
fn text_into() -> String {
    "into".into()
}
fn text_from() -> String {
    String::from("from")
}
fn text_new() -> String {
    String::new()
}
fn list() -> Vec<u8> {
    vec![1, 2, LEAST]
}
fn texts() -> Vec<String> {
    vec!["a".into(), String::from("b")]
}
fn yes() -> bool {
    true
}
fn some() -> Option<u8> {
    Some(3)
}
fn negative() -> i64 {
    -5
}
fn half() -> f32 {
    0.1
}
fn product() -> u64 {
    60 * 60 * 24
}
fn most() -> u32 {
    u32::MAX
}
fn five_seconds() -> std::time::Duration {
    std::time::Duration::from_secs(5)
}
fn variant() -> Bare {
    Bare::Three
}
fn path() -> std::path::PathBuf {
    std::path::PathBuf::from("/tmp")
}
fn constant() -> u8 {
    a::MOST
}
fn struct_value() -> Struct {
    Struct { number: 3, ..Default::default() }
}
fn boxed() -> Box<Struct> {
    Box::new(Struct { number: 1, text: Some(text()) })
}
fn external() -> External {
    External::Fields { a: 1, b: None, c: 2 }
}
fn newtype() -> Newtype {
    Newtype(4)
}
#[derive(JsonSchema, Deserialize)]
pub struct DefaultPaths {
    #[serde(default = "ten")]
    a: u8,
    #[serde(default = "text")]
    b: String,
    #[serde(default = "text_into")]
    c: String,
    #[serde(default = "text_from")]
    d: String,
    #[serde(default = "text_new")]
    e: String,
    #[serde(default = "list")]
    f: Vec<u8>,
    #[serde(default = "texts")]
    g: Vec<String>,
    #[serde(default = "yes")]
    h: bool,
    #[serde(default = "some")]
    i: Option<u8>,
    #[serde(default = "negative")]
    j: i64,
    #[serde(default = "half")]
    k: f32,
    #[serde(default = "product")]
    l: u64,
    #[serde(default = "most")]
    m: u32,
    #[serde(default = "five_seconds")]
    n: std::time::Duration,
    #[serde(default = "variant")]
    o: Bare,
    #[serde(default = "path")]
    p: std::path::PathBuf,
    #[serde(default = "constant")]
    q: u8,
    #[serde(default = "struct_value")]
    r: Struct,
    #[serde(default = "boxed")]
    s: Box<Struct>,
    #[serde(default = "external")]
    t: External,
    #[serde(default = "Vec::<u8>::new")]
    u: Vec<u8>,
    #[serde(default = "String::default")]
    v: String,
    #[serde(default = "Struct::default")]
    w: Struct,
}
#[derive(JsonSchema, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct DefaultContainer {
    a: u8,
    #[serde(default = "ten")]
    b: u8,
    c: Option<Struct>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    d: Vec<u8>,
    #[serde(skip_serializing)]
    e: u8,
    #[serde(skip_deserializing)]
    f: u8,
}
#[derive(JsonSchema, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DefaultContainerByHand {
    page_size: u32,
    name: String,
    ratio: f64,
    kind: Bare,
    nested: Struct,
}
impl Default for DefaultContainerByHand {
    fn default() -> Self {
        Self { page_size: 20, name: "x".into(), ratio: 0.5, kind: Bare::One, nested: Struct::default() }
    }
}
#[derive(JsonSchema, Deserialize)]
#[serde(default = "whole")]
pub struct DefaultContainerFunction {
    a: u8,
    b: Option<String>,
}
fn whole() -> DefaultContainerFunction {
    DefaultContainerFunction { a: 3, b: Some("b".to_owned()) }
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct DefaultSkipped {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    a: Option<u8>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    b: Vec<u8>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    c: String,
    #[serde(default = "text", skip_serializing_if = "String::is_empty")]
    d: String,
    #[serde(default, skip_serializing_if = "HashMap::is_empty")]
    e: HashMap<String, u8>,
    #[serde(default = "yes", skip_serializing_if = "std::ops::Not::not")]
    f: bool,
}
#[derive(JsonSchema, Deserialize, Default)]
pub struct OnlyRead {
    a: u8,
}
#[derive(JsonSchema, Deserialize)]
pub struct DefaultNotSerialised {
    #[serde(default)]
    a: OnlyRead,
    #[serde(default)]
    b: Vec<OnlyRead>,
    #[serde(default)]
    c: Option<OnlyRead>,
    #[serde(default)]
    d: u8,
}
#[derive(JsonSchema, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Nest {
    some_thing: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u8>,
    #[serde(rename(serialize = "out"))]
    #[schemars(rename = "elsewhere")]
    renamed: u8,
    #[serde(skip)]
    skipped: u8,
    #[serde(flatten)]
    flat: Struct,
    pair: (u8, Bare),
    wrapped: Wrapped,
    unit: Unit3,
    through: Through,
}
#[derive(JsonSchema, Serialize, Deserialize, Default)]
pub struct Wrapped(u8);
#[derive(JsonSchema, Serialize, Deserialize, Default)]
pub struct Unit3;
#[derive(JsonSchema, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct Through {
    inner: Bare,
}
#[derive(JsonSchema, Deserialize)]
pub struct DefaultNested {
    #[serde(default)]
    a: Nest,
}
fn big() -> u64 {
    18_446_744_073_709_551_615
}
fn huge() -> u128 {
    4
}
fn third() -> f32 {
    0.333_333_34
}
fn tiny() -> f64 {
    1e-7
}
fn large() -> f64 {
    1e21
}
fn whole_number() -> f64 {
    3.0
}
fn minus_half() -> f64 {
    -0.5
}
fn hexadecimal() -> u32 {
    0xff
}
fn suffixed() -> f64 {
    2f64
}
fn cast() -> f64 {
    5 as f64
}
fn widened() -> f64 {
    f64::from(4u8)
}
fn one_more() -> usize {
    usize::from(LEAST) + 1
}
#[derive(JsonSchema, Deserialize)]
pub struct DefaultNumbers {
    #[serde(default = "cast")]
    cast: f64,
    #[serde(default = "widened")]
    widened: f64,
    #[serde(default = "one_more")]
    one_more: usize,
    #[serde(default = "big")]
    a: u64,
    #[serde(default = "huge")]
    b: u128,
    #[serde(default = "third")]
    c: f32,
    #[serde(default = "tiny")]
    d: f64,
    #[serde(default = "large")]
    e: f64,
    #[serde(default = "whole_number")]
    f: f64,
    #[serde(default = "minus_half")]
    g: f64,
    #[serde(default = "hexadecimal")]
    h: u32,
    #[serde(default = "suffixed")]
    i: f64,
}
fn internal() -> Internal {
    Internal::Fields { a: 2, b: Some(3) }
}
fn internal_unit() -> Internal {
    Internal::Unit
}
fn adjacent() -> Adjacent {
    Adjacent::Tuple(1, 2)
}
fn untagged() -> Untagged {
    Untagged::Text("x".to_string())
}
fn of_struct() -> External {
    External::Of(Struct { number: 1, text: None })
}
#[derive(JsonSchema, Deserialize)]
pub struct DefaultEnums {
    #[serde(default = "internal")]
    a: Internal,
    #[serde(default = "internal_unit")]
    b: Internal,
    #[serde(default = "adjacent")]
    c: Adjacent,
    #[serde(default = "untagged")]
    d: Untagged,
    #[serde(default = "of_struct")]
    e: External,
    #[serde(default = "variant")]
    f: Bare,
}
fn tagged() -> Tagged {
    Tagged { a: 1 }
}
#[derive(JsonSchema, Deserialize)]
pub struct DefaultSerdeForms {
    #[serde(default = "tagged")]
    a: Tagged,
    /// Words.
    #[serde(default = "struct_value")]
    b: Struct,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Lifetimes<'a> {
    a: &'a str,
    #[serde(borrow)]
    b: std::borrow::Cow<'a, str>,
    c: std::borrow::Cow<'a, [u8]>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ThroughGeneric<T> {
    a: Vec<T>,
}
#[derive(JsonSchema)]
#[schemars(transparent)]
pub struct ThroughValidated(#[schemars(range(min = 1))] u8);
#[derive(JsonSchema)]
pub struct UsesThrough {
    a: ThroughGeneric<Struct>,
    b: Option<ThroughGeneric<u8>>,
    c: ThroughValidated,
    d: NamedPage<ThroughGeneric<Struct>>,
    e: NamedPage<ThroughValidated>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[schemars(inline)]
pub enum InlineEnum {
    A,
    B(Struct),
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct MoreFields {
    /// Flattened, with words.
    #[serde(flatten, default)]
    a: Struct,
    b: Option<InlineEnum>,
    #[serde(default = "some")]
    #[schemars(with = "String")]
    c: Option<u8>,
    #[serde(default)]
    #[schemars(range(min = 1), extend("default" = 7))]
    d: u8,
    #[serde(default, skip_serializing)]
    e: u8,
    #[serde(default, skip_deserializing)]
    f: u8,
    #[schemars(default)]
    g: u8,
    #[schemars(default = "ten", title = "Gee")]
    gg: u8,
    #[serde(default)]
    h: TransparentOption2,
    i: Vec<(Bare, Option<Struct>)>,
    j: Box<[Struct]>,
    k: Box<str>,
    l: Option<serde_json::Map<String, serde_json::Value>>,
}
#[derive(JsonSchema, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct TransparentOption2(Option<u8>);
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "SCREAMING-KEBAB-CASE", tag = "the-tag")]
/// Enum words.
///
/// # Not a title
pub enum MoreVariants {
    FirstOne {
        some_field: Option<u8>,
        #[serde(default = "ten")]
        other_field: u8,
        #[serde(flatten)]
        rest: Struct,
    },
    /// # Title of a variant
    /// Text of it.
    #[serde(rename = "2nd")]
    Second(InlineEnumFields),
    #[schemars(with = "Struct")]
    Third(u8),
    #[serde(skip_serializing)]
    Fourth,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[schemars(inline)]
pub struct InlineEnumFields {
    a: u8,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(tag = "tag", content = "content")]
pub enum MoreAdjacent {
    A(()),
    B(Option<Struct>),
    C(Vec<MoreAdjacent>),
    #[schemars(with = "u8")]
    D,
    E {},
    /// Words.
    #[schemars(extend("x" = [TITLE]))]
    F(#[schemars(range(min = 2))] u8),
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum MoreUntagged {
    A {
        a: u8,
    },
    B(u8, u8),
    C(Box<MoreUntagged>),
    /// Nothing.
    D,
    #[schemars(title = "Given")]
    E(Vec<String>),
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub enum SkippedFields {
    A(#[serde(skip)] u8, u16),
    B {
        #[serde(skip_serializing)]
        a: u8,
        #[serde(skip_deserializing)]
        b: u8,
        #[serde(skip)]
        c: u8,
    },
}
#[derive(JsonSchema, Deserialize)]
pub struct Bounded<T, U = u8>
where
    T: std::fmt::Debug,
{
    #[schemars(with = "Vec<T>")]
    a: T,
    b: Option<U>,
}
#[derive(JsonSchema)]
#[schemars(bound = "")]
pub struct Unbound<T> {
    #[schemars(with = "u8")]
    a: T,
}
#[derive(JsonSchema, Serialize, Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "SCREAMING_SNAKE_CASE")]
/// Settings.
pub struct Settings {
    /// How many.
    how_many: std::num::Wrapping<u8>,
    names: Vec<String>,
    nested: Option<Box<Settings>>,
    limits: (u8, Option<u8>),
    by_name: BTreeMap<String, Struct>,
    bare: Bare,
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<String>,
    list: [Bare; 2],
}
