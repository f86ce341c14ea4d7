//! Arguments of a tool from one JSON Schema of type `object`.
//!
//! Used for tools without an attribute: those described by a Rust struct through schemars, and those of other programs,
//! in any draft of JSON Schema.

mod local_schema;
mod properties;
mod whole_numbers;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::validate::{SchemaError, Validator};
use crate::{Assembly, RawArgument, ToolDefinition};
use local_schema::LocalSchema;
use properties::ObjectProperties;

/// A tool's arguments, read from a JSON Schema.
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
    properties: BTreeMap<String, ArgumentProperty>,
    defs: BTreeMap<String, Value>,
    whole: Option<Validator>,
    left_out: Vec<SchemaError>,
}

#[derive(Debug)]
struct ArgumentProperty {
    schema: Value,
    required: bool,
    nullable: bool,
}

impl ArgumentSchema {
    /// Reads the schema of an object whose properties are the arguments.
    ///
    /// Local references may have any form (`#/definitions/City`, `#/properties/from`). Unnamed properties
    /// (`additionalProperties`, `patternProperties`) are not offered, because a model needs names.
    ///
    /// # Errors
    /// If the schema is not an object, has a remote reference, or has a keyword that cannot be enforced.
    pub fn read(schema: &Value) -> Result<Self, SchemaError> {
        let read = Self::read_as_far_as_possible(schema)?;
        match read.left_out.first() {
            Some(error) => Err(error.clone()),
            None => Ok(read),
        }
    }

    /// Like [`read`](Self::read), for a tool that checks its arguments itself. Keywords that cannot be enforced here,
    /// such as a pattern with lookahead, are shown to the model but [left out](Self::left_out) of validation.
    ///
    /// # Errors
    /// If the schema is not an object, has a remote reference, or has a reference that only leads back to itself.
    pub fn read_as_far_as_possible(schema: &Value) -> Result<Self, SchemaError> {
        let LocalSchema { root, defs } = LocalSchema::from_schema(schema)?;
        let found = ObjectProperties::from_schema(&root, &defs)?;
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
            properties.insert(name, ArgumentProperty { schema, required, nullable });
        }
        let whole = found.has_object_constraints.then(|| lenient(&root, "")).transpose()?;
        left_out.sort_by(|a, b| a.path.cmp(&b.path));
        left_out.dedup();
        Ok(Self { properties, defs, whole, left_out })
    }

    /// Adds the arguments to a definition, in the manifest's form, with the definitions they refer to.
    pub fn describe(&self, definition: &mut ToolDefinition) {
        let arguments = self.properties.iter().map(|(name, property)| (name.clone(), property.raw()));
        let assembly = Assembly { arguments: arguments.collect(), defs: self.defs_map(), returns: None };
        definition.arguments.clear();
        assembly.finish(definition);
    }

    /// Returns `true` if an argument accepts `null`.
    #[must_use]
    pub fn is_nullable(&self, argument: &str) -> bool {
        self.properties.get(argument).is_some_and(|property| property.nullable)
    }

    /// Returns the validator for constraints across arguments, if the schema has any.
    #[must_use]
    pub fn whole(&self) -> Option<&Validator> {
        self.whole.as_ref()
    }

    /// Returns the keywords that validation ignores.
    #[must_use]
    pub fn left_out(&self) -> &[SchemaError] {
        &self.left_out
    }

    fn defs_map(&self) -> Map<String, Value> {
        self.defs.iter().map(|(name, def)| (name.clone(), def.clone())).collect()
    }
}

impl ArgumentProperty {
    fn raw(&self) -> RawArgument {
        RawArgument {
            schema: Some(self.schema.clone()),
            optional: !self.required,
            variants: Vec::new(),
            description: None,
            default: None,
            or_default: false,
            aliases: Vec::new(),
            rules: Vec::new(),
            secret: false,
        }
    }
}

impl ToolDefinition {
    /// Sets the schema of a successful result, if it is an object or an array.
    ///
    /// # Errors
    /// If the schema has a remote reference.
    pub fn describe_result(&mut self, schema: &Value) -> Result<(), SchemaError> {
        let LocalSchema { root, defs } = LocalSchema::from_schema(schema)?;
        let returns = Some((root, defs.into_iter().collect()));
        Assembly { returns, ..Assembly::default() }.finish(self);
        Ok(())
    }
}

/// Prefixes the path of an error with its place. Paths into definitions stay unchanged.
fn within(place: &str, error: SchemaError) -> SchemaError {
    match error.path.strip_prefix('#') {
        Some(path) if !path.starts_with("/$defs/") => SchemaError { path: format!("#{place}{path}"), ..error },
        _ => error,
    }
}

/// Returns the names in `required`.
fn names(required: Option<&Value>) -> BTreeSet<String> {
    let names = required.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
