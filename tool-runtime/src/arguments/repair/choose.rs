//! Repair of values whose schema has several alternatives.

use serde_json::Value;
use tool_model::reference_target;
use tool_model::validate::Validator;

use super::json_node::JsonNode;
use super::repairer::{RepairPath, ValueRepairer, list, types};

/// The depth of nested alternatives. Deeper ones are assumed to accept any string.
const DEEPEST: usize = 8;

/// The keywords that list alternatives.
const FORMS: [&str; 3] = ["anyOf", "oneOf", "allOf"];

impl ValueRepairer<'_, '_> {
    /// Repairs a value that matches no alternative, if all possible repairs give the same value.
    ///
    /// A schema accepts an integer that is written as `2.0`, which its type refuses. A value with such a number is repaired
    /// if all alternatives that it matches agree.
    pub(super) fn choose(&mut self, node: &mut JsonNode, forms: &[Value], path: RepairPath<'_>, depth: usize) {
        if matches!(node, JsonNode::Text(_)) && forms.iter().any(|form| self.takes_any_text(form, 0)) {
            return;
        }
        let mut fitting: Vec<&Value> = forms.iter().filter(|form| self.accepts(form, node)).collect();
        let fits = !fitting.is_empty();
        if fits && !node.has_decimal() {
            return;
        }
        if !fits {
            fitting = forms.iter().collect();
        }
        let noted = self.log.len();
        let mut chosen = None;
        for form in fitting {
            if !self.spend(node.size()) {
                return;
            }
            let mut candidate = node.clone();
            self.repair(&mut candidate, form, path, depth);
            let repairs = self.log.split_off(noted);
            let is_repaired = candidate != *node && self.accepts(form, &candidate);
            match &chosen {
                _ if !is_repaired && fits => return,
                _ if !is_repaired => {}
                Some((other, _)) if *other != candidate => return,
                Some(_) => {}
                None => chosen = Some((candidate, repairs)),
            }
        }
        if let Some((candidate, repairs)) = chosen {
            *node = candidate;
            self.log.extend(repairs);
        }
    }

    /// Returns `true` if the schema accepts a value. A schema that cannot be enforced accepts none.
    pub(super) fn accepts(&mut self, schema: &Value, node: &JsonNode) -> bool {
        if !self.spend(node.size()) {
            return false;
        }
        let defs = self.defs;
        let validator = self.validators.entry(schema).or_insert_with(|| Validator::new(schema, defs).ok());
        let (Some(validator), Some(value)) = (validator, node.value()) else { return false };
        validator.is_valid(&value)
    }

    /// Returns `true` if the schema accepts free text: then a string needs no repair.
    pub(super) fn takes_any_text(&self, schema: &Value, depth: usize) -> bool {
        if depth > DEEPEST || takes_anything(schema) {
            return true;
        }
        let is_listed = schema.get("enum").is_some() || schema.get("const").is_some();
        let target = reference_target(schema).and_then(|name| self.defs.get(&*name));
        let mut forms = FORMS.iter().flat_map(|keyword| list(schema, keyword)).chain(target);
        (types(schema).contains(&"string") && !is_listed) || forms.any(|form| self.takes_any_text(form, depth + 1))
    }
}

/// Returns `true` if a schema does not restrict its values.
pub(super) fn takes_anything(schema: &Value) -> bool {
    !["type", "enum", "const", "$ref"].iter().chain(&FORMS).any(|keyword| schema.get(keyword).is_some())
}
