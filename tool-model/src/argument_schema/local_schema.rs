//! Normalization of references to `#/$defs/NAME`, the one form that everything else understands.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::schema::{each_subschema, target_of};
use crate::validate::SchemaError;

/// A schema and its definitions, with normalized references.
pub(super) struct LocalSchema {
    pub(super) root: Value,
    pub(super) defs: BTreeMap<String, Value>,
}

impl LocalSchema {
    pub(super) fn from_schema(schema: &Value) -> Result<Self, SchemaError> {
        let mut mover = ReferenceMover {
            whole: schema,
            defs: BTreeMap::new(),
            moved: BTreeMap::new(),
            pending: Vec::new(),
            taken: taken(schema),
        };
        for key in ["$defs", "definitions"] {
            for (name, def) in schema.get(key).and_then(Value::as_object).into_iter().flatten() {
                let mut def = def.clone();
                mover.rewrite(&mut def)?;
                mover.defs.insert(name.clone(), def);
            }
        }
        let mut root = schema.clone();
        if let Value::Object(object) = &mut root {
            object.remove("$defs");
            object.remove("definitions");
        }
        mover.rewrite(&mut root)?;
        while let Some((name, mut target)) = mover.pending.pop() {
            mover.rewrite(&mut target)?;
            mover.defs.insert(name, target);
        }
        Ok(Self { root, defs: mover.defs })
    }
}

/// Returns the names of the existing definitions.
fn taken(schema: &Value) -> BTreeSet<String> {
    let named = ["$defs", "definitions"].iter().filter_map(|key| schema.get(*key)?.as_object());
    named.flat_map(|defs| defs.keys().cloned()).collect()
}

/// Moves every referenced subschema into the definitions.
struct ReferenceMover<'a> {
    whole: &'a Value,
    defs: BTreeMap<String, Value>,
    /// The new name of each target, by reference.
    moved: BTreeMap<String, String>,
    /// Named targets that are not rewritten yet. A queue rather than recursion, because chains can be arbitrarily long.
    pending: Vec<(String, Value)>,
    taken: BTreeSet<String>,
}

impl ReferenceMover<'_> {
    fn rewrite(&mut self, schema: &mut Value) -> Result<(), SchemaError> {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str).map(str::to_owned) {
            let name = self.name_of(&reference)?;
            let escaped = name.replace('~', "~0").replace('/', "~1").replace('%', "%25");
            schema["$ref"] = format!("#/$defs/{escaped}").into();
        }
        let mut result = Ok(());
        each_subschema(schema, &mut |inner| {
            if result.is_ok() {
                result = self.rewrite(inner);
            }
        });
        result
    }

    fn name_of(&mut self, reference: &str) -> Result<String, SchemaError> {
        let named = reference.replacen("#/definitions/", "#/$defs/", 1);
        if let Some(name) = target_of(&named).filter(|name| self.taken.contains(&**name)) {
            return Ok(name.into_owned());
        }
        if let Some(name) = self.moved.get(reference) {
            return Ok(name.clone());
        }
        let failed = |message: String| Err(SchemaError { path: "#/$ref".to_owned(), message });
        let Some(pointer) = reference.strip_prefix('#') else {
            return failed(format!("`{reference}` is a remote reference, which is not supported"));
        };
        let Some(target) = self.whole.pointer(pointer) else {
            return failed(format!("reference `{reference}` has no target"));
        };
        let name = self.free_name(pointer);
        self.moved.insert(reference.to_owned(), name.clone());
        self.pending.push((name.clone(), target.clone()));
        Ok(name)
    }

    /// Returns a free name for the target of a pointer: its last segment, with a number if taken.
    fn free_name(&mut self, pointer: &str) -> String {
        let last = pointer.rsplit('/').find(|step| !step.is_empty()).unwrap_or("Arguments");
        let plain: String = last.chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-')).collect();
        let mut name = if plain.is_empty() { "Part".to_owned() } else { plain.clone() };
        let mut count = 1;
        while !self.taken.insert(name.clone()) {
            count += 1;
            name = format!("{plain}{count}");
        }
        name
    }
}
