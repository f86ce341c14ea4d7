//! Names that clash, or are hard to refer to.

use super::*;

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
