//! Forms generated from schemas.

mod control;
mod schema;
#[cfg(test)]
mod tests;

use std::cell::Cell;

use maud::{Markup, html};
use serde_json::{Map, Value};
use tool_runtime::ToolDefinition;

use self::schema::{Schema, Shape, name_of_shape};
use super::inline_code;

/// Maximum depth of a form. Deeper values are entered as JSON.
const DEPTH: usize = 5;

/// Maximum number of nodes below the arguments, since recursive or malicious schemas could produce any number.
const ROOM: usize = 1000;

/// Maximum number of initial rows of a list.
const ROWS: u64 = 10;

/// Renders the fields for a tool's arguments. `fields.js` assembles the values: `data-node` is the kind of node and
/// `data-name` the name of its value.
pub(super) fn fields(tool: &ToolDefinition) -> Markup {
    let schema = tool.parameters();
    html! {
        @if tool.arguments.is_empty() {
            p.quiet { "This tool takes no arguments." }
        }
        (Form::new(&schema).all(&schema))
    }
}

struct Form<'a> {
    /// The root for references.
    root: &'a Value,
    /// The remaining number of nodes.
    room: Cell<usize>,
}

/// A position in a form: an argument, a field of an object or a row of a list.
#[derive(Clone)]
struct FieldPosition<'a> {
    /// The name in the parent object; `None` for a row.
    name: Option<&'a str>,
    /// The label.
    label: &'a str,
    id: String,
    required: bool,
    depth: usize,
}

impl<'a> FieldPosition<'a> {
    fn id_of_hint(&self) -> String {
        format!("{}-hint", self.id)
    }

    /// Returns the position of a field of this object.
    fn field(&self, name: &'a str, required: bool) -> Self {
        FieldPosition {
            name: Some(name),
            label: name,
            id: format!("{}-{name}", self.id),
            required,
            depth: self.depth + 1,
        }
    }

    /// Returns the position of a value without a name.
    fn inner(&self) -> Self {
        FieldPosition { name: None, id: format!("{}-item", self.id), required: true, depth: self.depth + 1, ..*self }
    }
}

impl<'a> Form<'a> {
    fn new(root: &'a Value) -> Self {
        Self { root, room: Cell::new(ROOM) }
    }

    fn all(&self, schema: &'a Value) -> Markup {
        let top = FieldPosition { name: None, label: "", id: "field".to_owned(), required: true, depth: 0 };
        html! { @if let Some(all) = schema["properties"].as_object() { (self.properties(&top, schema, all)) } }
    }

    fn properties(&self, place: &FieldPosition<'a>, schema: &'a Value, all: &'a Map<String, Value>) -> Markup {
        let is_required =
            |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
        let mut sorted: Vec<(&String, &Value)> = all.iter().collect();
        // Required properties first.
        sorted.sort_by_key(|(name, _)| !is_required(name));
        html! { @for (name, property) in sorted { (self.node(&place.field(name, is_required(name)), property)) } }
    }

    /// Returns `true` and takes the nodes of a shape if enough remain.
    fn has_room(&self, shape: &Shape<'_>) -> bool {
        let parts = match shape {
            Shape::Object(all) => all.len(),
            Shape::Tuple(each) => each.len(),
            Shape::OneOf(shapes) => shapes.len(),
            Shape::List(_) | Shape::Map(_) => 1,
            _ => 0,
        };
        let left = self.room.get().checked_sub(parts);
        left.inspect(|left| self.room.set(*left)).is_some()
    }

    fn node(&self, place: &FieldPosition<'a>, written: &'a Value) -> Markup {
        let schema = Schema::resolve(written, self.root);
        let shape = Some(schema.shape()).filter(|shape| place.depth <= DEPTH && self.has_room(shape));
        let shape = match shape.unwrap_or(Shape::Open) {
            // A constant is always present in its object: it often is the tag of a variant.
            Shape::Fixed(only) if place.depth == 1 && !place.required => Shape::Choice(vec![only.clone()]),
            shape => shape,
        };
        let (kind, content) = match &shape {
            Shape::Object(all) => ("object", self.properties(place, schema.value, all)),
            Shape::List(items) => {
                let least = schema.value["minItems"].as_u64().filter(|_| place.required).unwrap_or_default();
                ("list", rows(place, &self.node(&place.inner(), items), least.min(ROWS)))
            }
            Shape::Map(values) => ("map", rows(place, &self.pair(place, values), 0)),
            Shape::Tuple(each) => ("tuple", html! { @for one in *each { (self.node(&place.inner(), one)) } }),
            Shape::OneOf(shapes) => ("variant", self.variants(place, shapes)),
            _ => return control::labelled(place, schema, &shape),
        };
        group(place, schema, kind, &content)
    }

    fn pair(&self, place: &FieldPosition<'a>, values: &'a Value) -> Markup {
        html! {
            input.key type="text" aria-label={ "Key in " (place.label) } placeholder="key" spellcheck="false" autocomplete="off";
            (self.node(&place.inner(), values))
        }
    }

    fn variants(&self, place: &FieldPosition<'a>, shapes: &[&'a Value]) -> Markup {
        html! {
            select.which aria-label={ "Kind of " (place.label) } {
                option value="" { "–" }
                @for (index, shape) in shapes.iter().enumerate() {
                    option value=(index) { (name_of_shape(shape, self.root)) }
                }
            }
            div.chosen {}
            @for shape in shapes { template { (self.node(&place.inner(), shape)) } }
        }
    }
}

/// Renders rows that the user adds and removes; each is a copy of the template.
fn rows(place: &FieldPosition<'_>, cells: &Markup, least: u64) -> Markup {
    html! {
        ol.rows data-least=(least) {}
        template {
            li.row {
                div.cells { (cells) }
                button.remove type="button" aria-label={ "Remove from " (place.label) } title="Remove" { "×" }
            }
        }
        button.add type="button" { "Add to " (place.label) }
    }
}

/// Renders nodes that form one value. An optional list or variant is present once it has content; an optional object or
/// tuple has a checkbox.
fn group(place: &FieldPosition<'_>, schema: Schema<'_>, kind: &str, content: &Markup) -> Markup {
    let has_box = !place.required && matches!(kind, "object" | "tuple");
    html! {
        @if place.name.is_some() {
            fieldset id=(place.id) data-node=(kind) data-name=[place.name] data-required[place.required] {
                legend {
                    @if has_box { label.check { input.present type="checkbox"; (place.label) } } @else { (place.label) }
                    @if place.required { (star()) }
                    span.type { (schema.in_words()) }
                }
                (about(schema, None))
                (content)
            }
        } @else {
            div.group role="group" aria-label=(place.label) data-node=(kind) data-required { (about(schema, None)) (content) }
        }
    }
}

fn star() -> Markup {
    html! { span.required title="required" { " *" } }
}

fn about(schema: Schema<'_>, id: Option<&str>) -> Markup {
    html! { @if !schema.description.is_empty() { p.hint id=[id] { (inline_code(schema.description)) } } }
}
