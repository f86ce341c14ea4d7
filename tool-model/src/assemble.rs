//! Assembles tool definitions from their parts.
//!
//! The parts come from a [`Registration`] or, in the generator, from source text. Both use the same functions, so that
//! they produce the same bytes.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::scalar::Scalar;
use crate::schema::{SchemaDefinitions, referred, referred_by};
use crate::trace::{TracedSchemas, cached};
use crate::{Argument, ArgumentSpec, Registration, Rule, ToolDefinition, TypeSchema, key};

/// The schemas of one tool as schemars generates them, before conversion to the manifest's form.
#[derive(Default)]
pub struct Assembly {
    /// The arguments by name.
    pub arguments: Vec<(String, RawArgument)>,
    /// The definitions that the arguments refer to.
    pub defs: Map<String, Value>,
    /// The schema of the result, if known, with its own definitions: a type may serialize differently than it
    /// deserializes.
    pub returns: Option<(Value, Map<String, Value>)>,
}

/// One argument before conversion to the manifest's form.
pub struct RawArgument {
    /// The schema; `None` for `any`.
    pub schema: Option<Value>,
    /// `true` if the type accepts a missing value.
    pub optional: bool,
    /// The variants of an enum in the order of declaration, if known.
    pub variants: Vec<String>,
    /// The argument's own description.
    pub description: Option<String>,
    /// The default shown to the model.
    pub default: Option<Value>,
    /// `true` if the argument has a default that is not shown.
    pub or_default: bool,
    /// `#[arg(alias)]`
    pub aliases: Vec<String>,
    /// The constraints of `#[arg(..)]`.
    pub rules: Vec<Rule>,
    /// `#[arg(secret)]`
    pub secret: bool,
}

impl Assembly {
    /// Converts all schemas to the manifest's form and adds them to a definition.
    pub fn finish(self, definition: &mut ToolDefinition) {
        let defs = SchemaDefinitions::new(self.defs);
        for (name, raw) in self.arguments {
            definition.arguments.insert(name, raw.finish(&defs));
        }
        if !defs.is_empty() {
            definition.defs = defs.reachable(referred_by(definition.arguments.values()));
        }
        if let Some((schema, raw_defs)) = self.returns {
            let defs = SchemaDefinitions::new(raw_defs);
            let schema = defs.resolve(schema);
            if defs.is_structured(&schema) {
                let needed = defs.reachable(referred(&schema));
                definition.returns = Some(add_definitions(&mut definition.defs, needed, schema));
            }
        }
    }
}

/// Adds the definitions of the result to those of the arguments. If two different definitions have the same name, the
/// result's is renamed to `NameReturned`.
fn add_definitions(defs: &mut BTreeMap<String, Value>, needed: BTreeMap<String, Value>, mut schema: Value) -> Value {
    let mut clashing: Vec<&str> = needed
        .iter()
        .filter(|(name, def)| defs.get(*name).is_some_and(|known| known != *def))
        .map(|(name, _)| name.as_str())
        .collect();
    // A definition that refers to a renamed one must be renamed, too.
    while let Some((name, _)) = needed.iter().find(|(name, def)| {
        let refers = || referred(def).iter().any(|target| clashing.contains(&target.as_str()));
        !clashing.contains(&name.as_str()) && defs.contains_key(*name) && refers()
    }) {
        clashing.push(name);
    }
    let rename = |name: &str| clashing.contains(&name).then(|| format!("{name}Returned"));
    crate::schema::rename_references(&mut schema, &rename);
    for (name, def) in &needed {
        let mut def = def.clone();
        crate::schema::rename_references(&mut def, &rename);
        defs.insert(rename(name).unwrap_or_else(|| name.clone()), def);
    }
    schema
}

impl RawArgument {
    fn finish(mut self, defs: &SchemaDefinitions) -> Argument {
        let (type_name, keywords) = match self.schema.take() {
            Some(schema) => defs.argument(schema, self.optional, &self.variants),
            None => ("any".to_owned(), BTreeMap::new()),
        };
        self.describe(type_name, keywords)
    }

    /// Adds the settings from the source to the schema of the type.
    fn describe(self, type_name: String, mut keywords: BTreeMap<String, Value>) -> Argument {
        let required = !self.optional && self.default.is_none() && !self.or_default;
        for rule in &self.rules {
            rule.describe(&type_name, &mut keywords);
        }
        if let Some(default) = self.default {
            keywords.insert("default".into(), default);
        }
        if self.secret {
            keywords.insert("writeOnly".into(), Value::Bool(true));
        }
        let description = crate::schema::take_description(&mut keywords, self.description);
        Argument { type_name, required, aliases: self.aliases, keywords, description }
    }
}

impl ToolDefinition {
    /// Replaces the inferred arguments by those of `arguments(..)`, given as the text of a JSON object.
    pub fn replace_arguments(&mut self, explicit: &str) {
        // The macro has validated the text.
        self.arguments = serde_json::from_str(explicit).unwrap_or_default();
        let mut roots = referred_by(self.arguments.values());
        roots.extend(self.returns.iter().flat_map(referred));
        self.defs = SchemaDefinitions::new(std::mem::take(&mut self.defs).into_iter().collect()).reachable(roots);
    }
}

/// Returns the definition of a linked tool.
pub(crate) fn from_registration(tool: &Registration) -> ToolDefinition {
    let mut definition = ToolDefinition {
        description: tool.description.to_owned(),
        handler: tool.handler.to_owned(),
        ..ToolDefinition::default()
    };
    for (name, value) in tool.options.keys {
        // The macros only emit keys of the table, with values of their kind.
        let set = key(name).map(|key| key.set(&mut definition, Value::from(*value)));
        debug_assert!(matches!(set, Some(Ok(()))), "`{name}` of `{}`", tool.name);
    }
    describe_types(tool, &mut definition);
    if let Some(explicit) = tool.options.explicit {
        definition.replace_arguments(explicit);
    }
    definition
}

fn describe_types(tool: &Registration, definition: &mut ToolDefinition) {
    let types = tool.call.types();
    // Most tools need no generator.
    let mut generator = None;
    let mut assembly = Assembly::default();
    let mut traced = Vec::new();
    for (spec, ty) in tool.arguments.iter().zip(types.arguments) {
        let name = spec.name.to_owned();
        if let Some(scalar) = ty.scalar() {
            let raw = raw(spec, None, ty.optional, &[]);
            let (type_name, keywords) = scalar.describe();
            definition.arguments.insert(name, raw.describe(type_name, keywords));
            continue;
        }
        let generator =
            generator.get_or_insert_with(|| SchemaSettings::draft2020_12().for_deserialize().into_generator());
        let schema = match ty.schema {
            Some(TypeSchema::Traced(trace)) => {
                traced.push((assembly.arguments.len(), trace));
                None
            }
            schema => schema.map(|schema| render(schema, generator)),
        };
        assembly.arguments.push((name, raw(spec, schema, ty.optional, ty.variants)));
    }
    assembly.defs = generator.map(|mut generator| generator.take_definitions(true)).unwrap_or_default();
    // Schemars must have chosen its names before others are added.
    let mut schemas = TracedSchemas::default();
    for (index, trace) in traced {
        assembly.arguments[index].1.schema = schemas.schema(&cached(trace), &mut assembly.defs);
    }
    // Scalar results are not described.
    let returns = types
        .returns
        .filter(|returns| Scalar::from_type_name(returns.type_name).is_none() && returns.type_name != "()");
    assembly.returns = returns.map(|returns| {
        let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        (render(returns.schema, &mut generator), generator.take_definitions(true))
    });
    if !assembly.arguments.is_empty() || assembly.returns.is_some() {
        assembly.finish(definition);
    }
}

fn raw(spec: &ArgumentSpec, schema: Option<Value>, optional: bool, variants: &[&str]) -> RawArgument {
    RawArgument {
        schema,
        optional,
        variants: variants.iter().map(|&variant| variant.to_owned()).collect(),
        description: owned(spec.description),
        default: spec.details.default.map(|text| serde_json::from_str(text).unwrap_or_default()),
        or_default: spec.details.or_default,
        aliases: spec.details.aliases.iter().map(|&alias| alias.to_owned()).collect(),
        rules: spec.details.rules.to_vec(),
        secret: spec.details.secret,
    }
}

fn render(schema: TypeSchema, generator: &mut schemars::SchemaGenerator) -> Value {
    let text = |format: Option<&str>| match format {
        Some(format) => json!({"type": "string", "format": format}),
        None => json!({"type": "string"}),
    };
    match schema {
        TypeSchema::Derived(derive) => derive(generator).into(),
        // Traced types are described after all others.
        TypeSchema::Traced(_) => Value::Bool(true),
        TypeSchema::Text(format) => text(format),
        TypeSchema::Texts(format) => json!({"type": "array", "items": text(format)}),
    }
}

fn owned(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
