//! Where a schema has several forms: which one a value was meant to have.

use serde_json::Value;
use tool_model::reference_target;
use tool_model::validate::Validator;

use super::mend::{Mender, Path, list, types};
use super::tree::Node;

/// How deep forms may stand inside of forms. What is deeper is in doubt.
const DEEPEST: usize = 8;

/// The keywords that list forms.
const FORMS: [&str; 3] = ["anyOf", "oneOf", "allOf"];

impl Mender<'_, '_> {
    /// Mends a value that has none of these forms, if it can be mended to one value only.
    ///
    /// A form accepts an integer that is written as `2.0`, which its type refuses: a value that has such a form is mended
    /// where all the forms that it has agree.
    pub(super) fn choose(&mut self, node: &mut Node, forms: &[Value], path: Path<'_>, depth: usize) {
        if matches!(node, Node::Text(_)) && forms.iter().any(|form| self.takes_any_text(form, 0)) {
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
        let noted = self.notes.len();
        let mut chosen = None;
        for form in fitting {
            if !self.spend(node.size()) {
                return;
            }
            let mut candidate = node.clone();
            self.mend(&mut candidate, form, path, depth);
            let repairs = self.notes.split_off(noted);
            let is_mended = candidate != *node && self.accepts(form, &candidate);
            match &chosen {
                _ if !is_mended && fits => return,
                _ if !is_mended => {}
                Some((other, _)) if *other != candidate => return,
                Some(_) => {}
                None => chosen = Some((candidate, repairs)),
            }
        }
        if let Some((candidate, repairs)) = chosen {
            *node = candidate;
            self.notes.extend(repairs);
        }
    }

    /// Whether the schema accepts a value. One that cannot be enforced accepts nothing: it says too little.
    pub(super) fn accepts(&mut self, schema: &Value, node: &Node) -> bool {
        if !self.spend(node.size()) {
            return false;
        }
        let defs = self.defs;
        let validator = self.validators.entry(schema).or_insert_with(|| Validator::new(schema, defs).ok());
        let (Some(validator), Some(value)) = (validator, node.value()) else { return false };
        validator.is_valid(&value)
    }

    /// Whether a text of the sender's own words can stand here: then what was said is what was meant.
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

/// Whether a schema says nothing of what its values are.
pub(super) fn takes_anything(schema: &Value) -> bool {
    !["type", "enum", "const", "$ref"].iter().chain(&FORMS).any(|keyword| schema.get(keyword).is_some())
}
