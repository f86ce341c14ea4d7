//! Conversion of a finished trace to its result.

use super::discover::{
    BodyKey, BodyKind, FieldState, FieldsState, NodeId, NodeState, ROOT, TagVariants, TraceBody, TraceState,
    VariantContent, VariantState,
};
use super::{
    TracedBody, TracedDefinition, TracedField, TracedFields, TracedForm, TracedType, TracedVariant, UnknownCause,
};

impl TraceState {
    /// Converts what is known to the result of the trace.
    pub(super) fn finish(self) -> TracedType {
        let mut traced = TracedType { root: self.form(ROOT), ..TracedType::default() };
        for (key, body) in &self.by_visitor {
            let TraceBody { name, kind } = &self.bodies[*body];
            let body = match kind {
                BodyKind::Newtype(inner) => TracedBody::Newtype(self.form(*inner)),
                BodyKind::Tuple(items) => TracedBody::Tuple(self.forms(items)),
                BodyKind::Struct(fields) => TracedBody::Struct(self.fields(fields)),
                BodyKind::Enum(variants) => {
                    TracedBody::Enum(variants.variants.iter().flat_map(|variant| self.variant(variant)).collect())
                }
            };
            let is_inline = key.0.starts_with("either::");
            traced.types.insert(body_id(key), TracedDefinition { name: (*name).to_owned(), is_inline, body });
        }
        traced
    }

    fn form(&self, node: NodeId) -> TracedForm {
        let boxed = |node: &NodeId| Box::new(self.form(*node));
        match &self.nodes[node].state {
            NodeState::Pending => TracedForm::unknown(self.nodes[node].type_name, UnknownCause::NotReached),
            NodeState::Unknown(cause) => TracedForm::unknown(self.nodes[node].type_name, *cause),
            NodeState::Tagged { tag: None, .. } => {
                TracedForm::unknown(self.nodes[node].type_name, UnknownCause::Tagged)
            }
            NodeState::Buffered => TracedForm::Buffered(self.nodes[node].type_name.to_owned()),
            NodeState::Leaf(schema) => TracedForm::Schema(schema.clone()),
            NodeState::Option(inner) => TracedForm::Option(boxed(inner)),
            NodeState::List(item) => TracedForm::List(boxed(item)),
            NodeState::Set(item) => TracedForm::Set(boxed(item)),
            NodeState::Array(item, length) => TracedForm::Array(boxed(item), *length),
            NodeState::Tuple(items) => TracedForm::Tuple(self.forms(items)),
            NodeState::Map(key, value) => TracedForm::Map(boxed(key), boxed(value)),
            NodeState::Tagged { tag: Some(tag), content, variants } => TracedForm::Tagged {
                tag: (*tag).to_owned(),
                content: content.map(str::to_owned),
                variants: match variants {
                    TagVariants::Known(names) => Some(names.iter().map(|name| (*name).to_owned()).collect()),
                    TagVariants::Open | TagVariants::Pending => None,
                },
            },
            NodeState::Body { body, .. } => {
                let id = self.by_visitor.iter().find(|(_, known)| *known == body).map(|(key, _)| body_id(key));
                id.map_or_else(TracedForm::default, TracedForm::Named)
            }
        }
    }

    fn forms(&self, nodes: &[NodeId]) -> Vec<TracedForm> {
        nodes.iter().map(|node| self.form(*node)).collect()
    }

    fn fields(&self, fields: &FieldsState) -> TracedFields {
        let field = |field: &FieldState| TracedField {
            name: field.names.first().copied().unwrap_or_default().to_owned(),
            required: field.required,
            form: self.form(field.node),
        };
        TracedFields {
            fields: fields.fields.iter().map(field).collect(),
            denies_unknown: fields.denies_unknown.unwrap_or(false),
        }
    }

    /// Returns a variant. One without data has an entry for each alias, because its own name is not known.
    fn variant(&self, variant: &VariantState) -> Vec<TracedVariant> {
        let content = match &variant.content {
            VariantContent::Pending | VariantContent::Unit => None,
            VariantContent::Newtype(inner) => Some(TracedBody::Newtype(self.form(*inner))),
            VariantContent::Tuple(items) => Some(TracedBody::Tuple(self.forms(items))),
            VariantContent::Struct(fields) => Some(TracedBody::Struct(self.fields(fields))),
        };
        let names = if content.is_none() { variant.names.as_slice() } else { &variant.names[..1] };
        names.iter().map(|name| TracedVariant { name: (*name).to_owned(), content: content.clone() }).collect()
    }
}

fn body_id((visitor, names): &BodyKey) -> String {
    format!("{visitor}@{names}")
}
