//! Types that are read or written, or only described, as another type.

use super::*;

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
