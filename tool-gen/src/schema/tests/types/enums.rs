//! Enums, in every way to tell their variants apart.

use super::*;

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
