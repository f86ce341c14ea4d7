//! Writes a schema in a profile's subset, directly as text.

use std::collections::BTreeSet;

use serde_json::Value;
use tool_model::ToolDefinition;

use super::definitions::{ReferenceTarget, ToolDefs};
use super::json_text::JsonText;
use super::keyword::{Keyword, KeywordSet};
use super::losses::{LossSink, SchemaLoss, SchemaStep};
use super::node::SchemaNode;
use super::profile::{NullStyle, OptionalStyle, SchemaProfile};

/// The limit of inlined schemas per tool. Beyond it, definitions stay behind references.
const MOST_SCHEMAS: usize = 2_000;
/// The maximum nesting; JSON parsers fail soon after.
const DEEPEST: usize = 60;

/// The sizes of a schema that providers limit.
#[derive(Clone, Copy, Default)]
pub(crate) struct SchemaCounts {
    pub(crate) properties: usize,
    pub(crate) enum_values: usize,
    pub(crate) deepest: usize,
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

/// A writer of one schema.
pub(crate) struct SchemaWriter<'t, N> {
    pub(crate) json: JsonText,
    pub(crate) profile: &'static SchemaProfile,
    pub(crate) notes: N,
    pub(crate) counts: SchemaCounts,
    /// `true` if a loss prevents strict mode.
    pub(crate) refused: bool,
    /// `true` if the schema is too large with inlined definitions.
    pub(crate) too_large: bool,
    pub(super) definitions: ToolDefs<'t>,
    pub(super) depth: usize,
    schemas: usize,
    /// `true` while a recursive definition is inlined because references are not supported.
    pub(super) unrolled: bool,
    /// The definitions that were referenced.
    pub(super) used: BTreeSet<&'t str>,
    pub(super) unwritten: BTreeSet<&'t str>,
}

/// The way in which `null` is added to the schema being written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NullEncoding {
    No,
    /// As a further name in `type`.
    Type,
    /// As a further alternative in `anyOf`.
    Form,
    /// As `nullable: true`.
    Flag,
}

impl<'t, N: LossSink> SchemaWriter<'t, N> {
    pub(crate) fn new(json: JsonText, profile: &'static SchemaProfile, definitions: ToolDefs<'t>) -> Self {
        Self {
            json,
            profile,
            notes: N::default(),
            counts: SchemaCounts::default(),
            refused: false,
            too_large: false,
            definitions,
            depth: 0,
            schemas: 0,
            unrolled: false,
            used: BTreeSet::new(),
            unwritten: BTreeSet::new(),
        }
    }

    /// Writes the arguments as one object. `names` holds the renamed arguments: own name and provider's name.
    pub(crate) fn parameters(&mut self, tool: &'t ToolDefinition, names: &[(String, String)]) {
        let renamed = |name: &'t String| names.iter().find(|(own, _)| own == name).map_or(name, |(_, other)| other);
        let strict = self.profile.optional == OptionalStyle::Null;
        self.json.open(b'{');
        self.json.key("type");
        self.json.raw("\"object\"");
        if self.profile.knows(Keyword::AdditionalProperties) {
            self.json.key("additionalProperties");
            self.json.raw("false");
        }
        self.json.key("properties");
        self.json.open(b'{');
        self.depth += 1;
        self.counts.properties += tool.arguments.len();
        for (name, argument) in &tool.arguments {
            self.json.name(if names.is_empty() { name } else { renamed(name) });
            self.notes.enter(SchemaStep::Property(name));
            self.counts.optional += usize::from(!argument.required);
            self.node(SchemaNode::from_argument(argument), !argument.required);
            self.notes.leave();
        }
        self.depth -= 1;
        self.json.close(b'}');
        if strict || tool.arguments.values().any(|argument| argument.required) {
            self.json.key("required");
            self.json.open(b'[');
            for (name, _) in tool.arguments.iter().filter(|(_, argument)| strict || argument.required) {
                self.json.item();
                self.json.text(if names.is_empty() { name } else { renamed(name) });
            }
            self.json.close(b']');
        }
        self.used_definitions();
        self.json.close(b'}');
        self.check_limits();
    }

    /// Writes the schema of a result, with its own `$defs`.
    pub(crate) fn result(&mut self, schema: &Value) {
        self.json.open(b'{');
        let mut node = SchemaNode::read(schema);
        // A definition may be just a reference to another one; a cycle means nothing.
        for _ in 0..=self.definitions.all.len() {
            let Some(reference) = node.get(Keyword::Ref) else { break };
            match self.definitions.target(reference) {
                ReferenceTarget::Inline(schema) | ReferenceTarget::Kept(_, schema) => {
                    node = SchemaNode::read(schema).annotated_by(&node)
                }
                ReferenceTarget::Unknown => node.remove(Keyword::Ref),
            }
        }
        self.keywords(node, NullEncoding::No);
        self.used_definitions();
        self.json.close(b'}');
    }

    /// Writes the referenced definitions once each, and those they reference in turn.
    fn used_definitions(&mut self) {
        if self.used.is_empty() {
            return;
        }
        self.json.key("$defs");
        self.json.open(b'{');
        let all = self.definitions.all;
        while let Some(name) = self.unwritten.pop_first() {
            self.json.name(name);
            self.notes.enter(SchemaStep::Property(name));
            self.schema(&all[name], false);
            self.notes.leave();
        }
        self.json.close(b'}');
    }

    fn check_limits(&mut self) {
        let Some(limits) = &self.profile.strict else { return };
        let counts = self.counts;
        if counts.deepest > limits.depth {
            self.lose(SchemaLoss::Depth(counts.deepest));
        }
        if counts.properties > limits.properties {
            self.lose(SchemaLoss::Properties(counts.properties));
        }
        if counts.enum_values > limits.enum_values {
            self.lose(SchemaLoss::EnumValues(counts.enum_values));
        }
    }

    pub(crate) fn lose(&mut self, loss: SchemaLoss) {
        self.refused |= self.profile.strict.is_some() && loss.forbids_strict();
        self.notes.lose(loss);
    }

    pub(super) fn schema(&mut self, schema: &Value, optional: bool) {
        self.node(SchemaNode::read(schema), optional);
    }

    /// Writes one schema; `optional` marks an optional property.
    pub(super) fn node(&mut self, node: SchemaNode<'_>, optional: bool) {
        let mut node = node;
        self.schemas += 1;
        self.counts.deepest = self.counts.deepest.max(self.depth);
        if self.definitions.repeat && (self.schemas > MOST_SCHEMAS || self.depth > DEEPEST) {
            self.too_large = true;
            self.json.raw("{}");
            return;
        }
        let mut nullable = false;
        loop {
            if let Some(reference) = node.get(Keyword::Ref) {
                match self.definitions.target(reference) {
                    ReferenceTarget::Unknown => {
                        self.lose(SchemaLoss::UnknownReference(reference.as_str().unwrap_or_default().to_owned()));
                        node.remove(Keyword::Ref);
                    }
                    _ if !node.only_refers() => return self.combined(&node, optional || nullable),
                    ReferenceTarget::Inline(schema) => node = SchemaNode::read(schema).annotated_by(&node),
                    ReferenceTarget::Kept(name, schema) => {
                        return self.reference(name, schema, &node, optional, nullable);
                    }
                }
            } else if node.get(Keyword::AllOf).is_some() {
                return self.combined(&node, optional);
            } else if node.split_null() {
                nullable = true;
            } else {
                break;
            }
        }
        node.infer_type();
        match self.is_nullable(nullable, optional) {
            false => self.non_null(node, NullEncoding::No),
            true => self.nullable(node),
        }
    }

    pub(super) fn is_nullable(&self, nullable: bool, optional: bool) -> bool {
        match self.profile.optional {
            OptionalStyle::LeftOut => nullable && !optional,
            OptionalStyle::Null => nullable || optional,
            OptionalStyle::AsItIs => nullable,
        }
    }

    /// Writes a schema that also accepts `null`.
    pub(super) fn nullable(&mut self, mut node: SchemaNode<'_>) {
        const FORMS: KeywordSet = KeywordSet::from_list(&[Keyword::AnyOf, Keyword::OneOf]);
        const VALUES: KeywordSet =
            KeywordSet::from_list(&[Keyword::AnyOf, Keyword::OneOf, Keyword::Enum, Keyword::Const]);
        if node.is_any() {
            return self.non_null(node, NullEncoding::No);
        }
        if self.profile.null == NullStyle::Flag {
            return self.non_null(node, NullEncoding::Flag);
        }
        if self.profile.null == NullStyle::Type && !node.keywords.intersects(VALUES) && !node.types.is_union() {
            return self.non_null(node, NullEncoding::Type);
        }
        if node.types.is_union() || (node.types.is_none() && node.keywords.intersects(FORMS)) {
            return self.non_null(node, NullEncoding::Form);
        }
        self.counts.unions += 1;
        self.json.open(b'{');
        if let Some(description) = node.description.take() {
            self.json.key("description");
            self.json.text(description);
        }
        self.json.key("anyOf");
        self.json.open(b'[');
        self.non_null(node, NullEncoding::No);
        self.json.raw(",{\"type\":\"null\"}]}");
    }
}
