//! The arguments of a tool, from one JSON Schema of the object that holds them.
//!
//! This is how tools come that no attribute describes: from a Rust struct through schemars, or from another program, in
//! whatever draft of JSON Schema that program speaks.

mod local;
mod properties;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::validate::{SchemaError, Validator};
use crate::{Assembly, RawArgument, ToolDefinition};
use local::Local;
use properties::Properties;

/// What a JSON Schema says of a tool's arguments.
///
/// ```
/// use serde_json::json;
/// use tool_model::{ArgumentSchema, ToolDefinition};
///
/// let schema = json!({
///     "type": "object",
///     "properties": {"city": {"$ref": "#/definitions/City"}, "days": {"type": ["integer", "null"]}},
///     "required": ["city"],
///     "definitions": {"City": {"type": "string", "minLength": 1}},
/// });
/// let read = ArgumentSchema::read(&schema)?;
/// let mut tool = ToolDefinition::default();
/// read.describe(&mut tool);
/// assert!(tool.arguments["city"].required);
/// assert_eq!(tool.arguments["days"].type_name, "integer");
/// assert!(read.is_nullable("days"));
/// # Ok::<(), tool_model::validate::SchemaError>(())
/// ```
#[derive(Debug)]
pub struct ArgumentSchema {
    properties: BTreeMap<String, Property>,
    defs: BTreeMap<String, Value>,
    whole: Option<Validator>,
    left_out: Vec<SchemaError>,
}

#[derive(Debug)]
struct Property {
    schema: Value,
    required: bool,
    nullable: bool,
}

impl ArgumentSchema {
    /// Reads the schema of an object whose properties are the arguments.
    ///
    /// References into the schema itself may have any form (`#/definitions/City`, `#/properties/from`). Properties that
    /// have no name of their own (`additionalProperties`, `patternProperties`) are not offered: a model is shown names.
    ///
    /// # Errors
    /// What is no object, refers to somewhere else, or says what could not be enforced.
    pub fn read(schema: &Value) -> Result<Self, SchemaError> {
        let read = Self::read_as_far_as_possible(schema)?;
        match read.left_out.first() {
            Some(error) => Err(error.clone()),
            None => Ok(read),
        }
    }

    /// As [`read`](Self::read), for a tool that checks its arguments again itself: keywords that cannot be enforced
    /// here, such as a pattern that looks ahead, are shown to the model and [left out](Self::left_out) of the check.
    ///
    /// # Errors
    /// What is no object, or refers to somewhere else or only to itself.
    pub fn read_as_far_as_possible(schema: &Value) -> Result<Self, SchemaError> {
        let Local { root, defs } = Local::of(schema)?;
        let found = Properties::of(&root, &defs)?;
        let mut left_out = Vec::new();
        let mut lenient = |schema: &Value, place: &str| {
            let (validator, errors) = Validator::as_far_as_possible(schema, &defs)?;
            left_out.extend(errors.into_iter().map(|error| within(place, error)));
            Ok::<_, SchemaError>(validator)
        };
        let mut properties = BTreeMap::new();
        for (name, schema) in found.schemas {
            let nullable = lenient(&schema, &format!("/properties/{name}"))?.is_valid(&Value::Null);
            let required = found.required.contains(&name);
            properties.insert(name, Property { schema, required, nullable });
        }
        let whole = found.says_more.then(|| lenient(&root, "")).transpose()?;
        left_out.sort_by(|a, b| a.path.cmp(&b.path));
        left_out.dedup();
        Ok(Self { properties, defs, whole, left_out })
    }

    /// Puts the arguments into a definition, in the manifest's form, with the definitions they refer to.
    pub fn describe(&self, definition: &mut ToolDefinition) {
        let arguments = self.properties.iter().map(|(name, property)| (name.clone(), property.raw()));
        let assembly = Assembly { arguments: arguments.collect(), defs: self.defs_map(), returns: None };
        definition.arguments.clear();
        assembly.finish(definition);
    }

    /// Whether `null` may be sent for an argument.
    #[must_use]
    pub fn is_nullable(&self, argument: &str) -> bool {
        self.properties.get(argument).is_some_and(|property| property.nullable)
    }

    /// What holds for the arguments together, where the schema says more than what each of them is.
    #[must_use]
    pub fn whole(&self) -> Option<&Validator> {
        self.whole.as_ref()
    }

    /// What the schema says and nobody checks here.
    #[must_use]
    pub fn left_out(&self) -> &[SchemaError] {
        &self.left_out
    }

    fn defs_map(&self) -> Map<String, Value> {
        self.defs.iter().map(|(name, def)| (name.clone(), def.clone())).collect()
    }
}

impl Property {
    fn raw(&self) -> RawArgument {
        RawArgument {
            schema: Some(self.schema.clone()),
            optional: !self.required,
            variants: Vec::new(),
            description: None,
            default: None,
            or_default: false,
            rules: Vec::new(),
            secret: false,
        }
    }
}

impl ToolDefinition {
    /// Says what a successful result looks like, if that is an object or an array.
    ///
    /// # Errors
    /// When the schema refers to somewhere else.
    pub fn describe_result(&mut self, schema: &Value) -> Result<(), SchemaError> {
        let Local { root, defs } = Local::of(schema)?;
        let returns = Some((root, defs.into_iter().collect()));
        Assembly { returns, ..Assembly::default() }.finish(self);
        Ok(())
    }
}

/// An error of a part, with its place in the whole. What stands in a definition stands there for all.
fn within(place: &str, error: SchemaError) -> SchemaError {
    match error.path.strip_prefix('#') {
        Some(path) if !path.starts_with("/$defs/") => SchemaError { path: format!("#{place}{path}"), ..error },
        _ => error,
    }
}

/// The names that a list of `required` has.
fn names(required: Option<&Value>) -> BTreeSet<String> {
    let names = required.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
