//! placeholder until the validator lands
use serde_json::Value;
use std::collections::BTreeMap;
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    pub path: String,
    pub received: Option<String>,
    pub expected: String,
}
pub struct Validator;
#[derive(Debug)]
pub struct SchemaError {
    pub path: String,
    pub message: String,
}
impl std::fmt::Display for SchemaError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.path, self.message)
    }
}
impl Validator {
    pub fn new(_: &Value, _: &BTreeMap<String, Value>) -> Result<Self, SchemaError> {
        Ok(Self)
    }
    pub fn check(&self, _: &Value, _: &str) -> Vec<Violation> {
        vec![]
    }
    pub fn is_valid(&self, _: &Value) -> bool {
        true
    }
}
pub fn describe(_: &Value, _: &BTreeMap<String, Value>) -> String {
    String::new()
}
