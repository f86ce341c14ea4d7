//! Attributes of schemars, and of the validators that it knows.

use super::*;

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
#[derive(JsonSchema, PartialEq, Eq, Hash)]
#[schemars(transparent)]
pub struct Pattern(#[schemars(regex(pattern = "^a"))] String);
