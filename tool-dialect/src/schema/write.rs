//! Writes a schema in the form of a profile, straight from the definition to text.

use std::collections::BTreeSet;

use serde_json::Value;
use tool_model::ToolDefinition;

use super::definitions::{Definitions, Target};
use super::json::Json;
use super::keyword::{Keyword, Keywords};
use super::node::Node;
use super::notes::{Loss, Notes, Step};
use super::profile::{Null, Optional, Profile};

/// More schemas than a tool has unless it repeats itself: then its definitions stay behind references.
const MOST_SCHEMAS: usize = 2_000;
/// JSON parsers give up soon after.
const DEEPEST: usize = 60;

/// What a schema counts for where a provider limits it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) properties: usize,
    pub(crate) enum_values: usize,
    pub(crate) deepest: usize,
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

/// Writes one schema.
pub(crate) struct Writer<'t, N> {
    pub(crate) json: Json,
    pub(crate) profile: &'static Profile,
    pub(crate) notes: N,
    pub(crate) counts: Counts,
    /// Whether something was lost without which the schema cannot be strict.
    pub(crate) refused: bool,
    /// Whether it would be too large with its definitions written out.
    pub(crate) too_large: bool,
    pub(super) definitions: Definitions<'t>,
    pub(super) depth: usize,
    schemas: usize,
    /// Whether a definition that contains itself is being written out, where references cannot be said.
    pub(super) unrolled: bool,
    /// The definitions that were referred to.
    pub(super) used: BTreeSet<&'t str>,
    pub(super) unwritten: BTreeSet<&'t str>,
}

/// How `null` comes into a schema that is being written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WithNull {
    No,
    /// As one more name in `type`.
    Type,
    /// As one more form below `anyOf`.
    Form,
    /// As `nullable: true`.
    Flag,
}

impl<'t, N: Notes> Writer<'t, N> {
    pub(crate) fn new(json: Json, profile: &'static Profile, definitions: Definitions<'t>) -> Self {
        Self {
            json,
            profile,
            notes: N::default(),
            counts: Counts::default(),
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

    /// The arguments as one object. `names` are what the provider calls those whose own names it does not take.
    pub(crate) fn parameters(&mut self, tool: &'t ToolDefinition, names: &[(String, String)]) {
        let renamed = |name: &'t String| names.iter().find(|(own, _)| own == name).map_or(name, |(_, other)| other);
        let strict = self.profile.optional == Optional::Null;
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
            self.notes.enter(Step::Property(name));
            self.counts.optional += usize::from(!argument.required);
            self.node(Node::of_argument(argument), !argument.required);
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

    /// A result's schema, which has its own `$defs` around it.
    pub(crate) fn result(&mut self, schema: &Value) {
        self.json.open(b'{');
        let mut node = Node::read(schema);
        // A definition may only refer to another one; what goes round in circles says nothing.
        for _ in 0..=self.definitions.all.len() {
            let Some(reference) = node.get(Keyword::Ref) else { break };
            match self.definitions.target(reference) {
                Target::Inline(schema) | Target::Kept(_, schema) => node = Node::read(schema).annotated_by(&node),
                Target::Unknown => node.remove(Keyword::Ref),
            }
        }
        self.keywords(node, WithNull::No);
        self.used_definitions();
        self.json.close(b'}');
    }

    /// The definitions that stay behind references, each once; they refer to others in turn.
    fn used_definitions(&mut self) {
        if self.used.is_empty() {
            return;
        }
        self.json.key("$defs");
        self.json.open(b'{');
        let all = self.definitions.all;
        while let Some(name) = self.unwritten.pop_first() {
            self.json.name(name);
            self.notes.enter(Step::Property(name));
            self.schema(&all[name], false);
            self.notes.leave();
        }
        self.json.close(b'}');
    }

    fn check_limits(&mut self) {
        let Some(limits) = &self.profile.strict else { return };
        let counts = self.counts;
        if counts.deepest > limits.depth {
            self.lose(Loss::Depth(counts.deepest));
        }
        if counts.properties > limits.properties {
            self.lose(Loss::Properties(counts.properties));
        }
        if counts.enum_values > limits.enum_values {
            self.lose(Loss::EnumValues(counts.enum_values));
        }
    }

    pub(crate) fn lose(&mut self, loss: Loss) {
        self.refused |= self.profile.strict.is_some() && loss.forbids_strict();
        self.notes.lose(loss);
    }

    pub(super) fn schema(&mut self, schema: &Value, optional: bool) {
        self.node(Node::read(schema), optional);
    }

    /// One schema; `optional` where it is a property that need not be there.
    pub(super) fn node(&mut self, node: Node<'_>, optional: bool) {
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
                    Target::Unknown => {
                        self.lose(Loss::UnknownReference(reference.as_str().unwrap_or_default().to_owned()));
                        node.remove(Keyword::Ref);
                    }
                    _ if !node.only_refers() => return self.combined(&node, optional || nullable),
                    Target::Inline(schema) => node = Node::read(schema).annotated_by(&node),
                    Target::Kept(name, schema) => {
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
            false => self.alone(node, WithNull::No),
            true => self.nullable(node),
        }
    }

    pub(super) fn is_nullable(&self, nullable: bool, optional: bool) -> bool {
        match self.profile.optional {
            Optional::LeftOut => nullable && !optional,
            Optional::Null => nullable || optional,
            Optional::AsItIs => nullable,
        }
    }

    /// A schema that `null` fits, too.
    pub(super) fn nullable(&mut self, mut node: Node<'_>) {
        const FORMS: Keywords = Keywords::of(&[Keyword::AnyOf, Keyword::OneOf]);
        const VALUES: Keywords = Keywords::of(&[Keyword::AnyOf, Keyword::OneOf, Keyword::Enum, Keyword::Const]);
        if node.is_any() {
            return self.alone(node, WithNull::No);
        }
        if self.profile.null == Null::Flag {
            return self.alone(node, WithNull::Flag);
        }
        if self.profile.null == Null::Type && !node.said.meets(VALUES) && !node.types.is_several() {
            return self.alone(node, WithNull::Type);
        }
        if node.types.is_several() || (node.types.is_none() && node.said.meets(FORMS)) {
            return self.alone(node, WithNull::Form);
        }
        self.counts.unions += 1;
        self.json.open(b'{');
        if let Some(description) = node.description.take() {
            self.json.key("description");
            self.json.text(description);
        }
        self.json.key("anyOf");
        self.json.open(b'[');
        self.alone(node, WithNull::No);
        self.json.raw(",{\"type\":\"null\"}]}");
    }
}
