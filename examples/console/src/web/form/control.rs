//! Form controls for single values.

use maud::{Markup, html};
use serde_json::Value;

use super::schema::{Schema, Shape, shown};
use super::{FieldPosition, about, star};

/// Renders a control with label and description. Rows of a list have neither.
pub(super) fn labelled(place: &FieldPosition<'_>, schema: Schema<'_>, shape: &Shape<'_>) -> Markup {
    if let (Shape::Fixed(value), Some(name)) = (shape, place.name) {
        return html! { input type="hidden" data-node="fixed" data-name=(name) value=(value.to_string()); };
    }
    let hint = Some(place.id_of_hint()).filter(|_| place.name.is_some() && !schema.description.is_empty());
    html! {
        @if place.name.is_some() {
            div.field {
                label for=(place.id) { (place.label) @if place.required { (star()) } span.type { (schema.in_words()) } }
                (control(place, schema, shape, hint.as_deref()))
                (about(schema, hint.as_deref()))
            }
        } @else {
            (control(place, schema, shape, None))
        }
    }
}

fn control(place: &FieldPosition<'_>, schema: Schema<'_>, shape: &Shape<'_>, hint: Option<&str>) -> Markup {
    let (id, name, required) = (&place.id, place.name, place.required);
    let label = name.is_none().then_some(place.label);
    let text = match schema.default {
        Value::Null => String::new(),
        default => shown(default),
    };
    let said = |key: &str| schema.value[key].as_number().map(ToString::to_string);
    let is_secret = schema.value["writeOnly"] == true;
    html! {
        @match shape {
            Shape::Fixed(value) => {
                input type="hidden" data-node="fixed" value=(value.to_string());
                span.quiet { (shown(value)) }
            }
            Shape::Choice(choices) => {
                select id=(id) data-node="choice" data-name=[name] aria-label=[label] aria-describedby=[hint] required[required] {
                    @if schema.default.is_null() { option value="" { "–" } }
                    @for choice in choices { option value=(choice.to_string()) selected[choice == schema.default] { (shown(choice)) } }
                }
            }
            Shape::Number { is_integer } => {
                input type="number" id=(id) data-node="number" data-name=[name] aria-label=[label] aria-describedby=[hint]
                    required[required] min=[said("minimum")] max=[said("maximum")] value=(text)
                    step=(if *is_integer { "1" } else { "any" });
            }
            Shape::Text if is_secret => {
                input type="password" id=(id) data-node="text" data-name=[name] aria-label=[label] aria-describedby=[hint]
                    required[required] maxlength=[said("maxLength")] autocomplete="off";
            }
            Shape::Text => {
                textarea id=(id) rows="1" data-node="text" data-name=[name] aria-label=[label] aria-describedby=[hint]
                    required[required] maxlength=[said("maxLength")] spellcheck="false" { (text) }
            }
            Shape::Lines { of_text } => {
                textarea id=(id) rows="2" data-node=(if *of_text { "lines" } else { "values" }) data-name=[name] aria-label=[label]
                    aria-describedby=[hint] required[required] placeholder="one in each line" spellcheck="false" {}
            }
            _ => {
                textarea id=(id) rows="3" data-node="json" data-name=[name] aria-label=[label] aria-describedby=[hint]
                    required[required] placeholder="JSON" spellcheck="false" { (text) }
            }
        }
    }
}
