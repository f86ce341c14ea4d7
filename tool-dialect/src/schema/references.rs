//! `allOf` and references to recursive definitions.

use serde_json::{Map, Value, json};

use super::keyword::{Keyword, KeywordSet};
use super::losses::{LossSink, SchemaLoss};
use super::merge::merged;
use super::node::SchemaNode;
use super::type_set::TypeSet;
use super::writer::{NullEncoding, SchemaWriter};

impl<'t, N: LossSink> SchemaWriter<'t, N> {
    /// Writes schemas that must all hold, merged into one if possible.
    pub(super) fn combined(&mut self, node: &SchemaNode<'_>, optional: bool) {
        let reference = node.get(Keyword::Ref).map(|reference| json!({"$ref": reference}));
        let parts: Vec<&Value> = reference.iter().chain(node.list(Keyword::AllOf).unwrap_or_default()).collect();
        let rest = node.to_map(KeywordSet::from_list(&[Keyword::Ref, Keyword::AllOf]));
        if let Some(one) = merged(&parts, rest.clone(), &self.definitions) {
            return self.schema(&one, optional);
        }
        let mut whole: Map<String, Value> = rest;
        whole.insert("allOf".to_owned(), parts.into_iter().cloned().collect());
        let whole = Value::Object(whole);
        let mut node = SchemaNode::read(&whole);
        if !self.profile.knows(Keyword::AllOf) {
            self.lose(SchemaLoss::AllOf);
        }
        node.infer_type();
        match self.is_nullable(false, optional) {
            false => self.non_null(node, NullEncoding::No),
            true => self.nullable(node),
        }
    }

    /// Writes a reference to a recursive definition.
    pub(super) fn reference(
        &mut self,
        name: &'t str,
        schema: &'t Value,
        node: &SchemaNode<'_>,
        optional: bool,
        nullable: bool,
    ) {
        let reference = node.get(Keyword::Ref).and_then(Value::as_str).unwrap_or_default();
        if !self.profile.knows(Keyword::Ref) {
            if !self.unrolled {
                self.lose(SchemaLoss::Recursive(name.to_owned()));
            }
            return self.unroll(name, SchemaNode::read(schema).annotated_by(node), optional);
        }
        if self.used.insert(name) {
            self.unwritten.insert(name);
        }
        let nullable = self.is_nullable(nullable, optional);
        let default = node.get(Keyword::Default).filter(|_| self.profile.knows(Keyword::Default));
        let says_more = node.description.is_some() || default.is_some();
        let wrapped = nullable || (says_more && self.profile.bare_references);
        self.json.open(b'{');
        if let Some(description) = node.description {
            self.json.key("description");
            self.json.text(description);
        }
        if wrapped {
            self.counts.unions += 1;
            self.json.key("anyOf");
            self.json.raw("[{");
        }
        self.json.key("$ref");
        self.json.text(reference);
        if wrapped {
            self.json.close(b'}');
            if nullable {
                self.json.raw(",{\"type\":\"null\"}");
            }
            self.json.close(b']');
        }
        if let Some(default) = default {
            self.json.key("default");
            self.json.value(default);
        }
        self.json.close(b'}');
    }

    /// Writes a recursive definition once; nested occurrences are only named.
    fn unroll(&mut self, name: &str, node: SchemaNode<'_>, optional: bool) {
        if !self.unrolled {
            self.unrolled = true;
            self.node(node, optional);
            self.unrolled = false;
            return;
        }
        self.json.open(b'{');
        self.json.key("type");
        self.json.text(if node.types == TypeSet::ARRAY { "array" } else { "object" });
        self.json.key("description");
        self.json.text(&format!("`{name}` again, as around it."));
        if node.types == TypeSet::ARRAY {
            self.json.key("items");
            self.json.raw(r#"{"type":"object"}"#);
        }
        self.json.close(b'}');
    }
}
