//! Forms made from schemas.

use maud::{Markup, html};
use serde_json::Value;
use tool_runtime::ToolDefinition;

/// How deep a form goes into a schema; what is deeper is written as JSON.
const DEPTH: usize = 4;

/// The fields for a tool's arguments. `form.js` puts them together again: each control says by `data-path` where its
/// value belongs and by `data-kind` how it is read.
pub(super) fn fields(tool: &ToolDefinition) -> Markup {
    let schema = tool.parameters();
    html! {
        @if tool.arguments.is_empty() {
            p.quiet { "This tool takes no arguments." }
        }
        (properties(&schema, &schema, &[]))
    }
}

fn properties(schema: &Value, root: &Value, path: &[&str]) -> Markup {
    let is_required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    html! {
        @for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            @let path = [path, &[name.as_str()]].concat();
            (field(name, resolve(property, root), root, &path, is_required(name)))
        }
    }
}

/// A schema, or what its `$ref` leads to; what is said beside the `$ref` is the description.
fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let target = schema["$ref"].as_str().and_then(|path| root.pointer(path.strip_prefix('#')?));
    target.unwrap_or(schema)
}

fn field(name: &str, schema: &Value, root: &Value, path: &[&str], required: bool) -> Markup {
    if schema["properties"].is_object() && path.len() < DEPTH {
        return html! {
            fieldset { legend { (name) @if required { (star()) } } (about(schema, None)) (properties(schema, root, path)) }
        };
    }
    let id = format!("field-{}", path.join("-"));
    let hint = format!("{id}-hint");
    html! {
        div.field {
            label for=(id) { (name) @if required { (star()) } span.type { (kind_in_words(schema)) } }
            (control(&id, &hint, schema, path, required))
            (about(schema, Some(&hint)))
        }
    }
}

fn star() -> Markup {
    html! { span.required title="required" { " *" } }
}

fn about(schema: &Value, id: Option<&str>) -> Markup {
    let text = schema["description"].as_str().unwrap_or_default();
    html! { p.hint id=[id] { (text) } }
}

fn control(id: &str, hint: &str, schema: &Value, path: &[&str], required: bool) -> Markup {
    let path = serde_json::to_string(path).unwrap_or_default();
    let default = &schema["default"];
    let text = match default {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let choices = choices(schema);
    let number = |key: &str| schema[key].as_number().map(ToString::to_string);
    html! {
        @if !choices.is_empty() {
            select id=(id) data-path=(path) data-kind="choice" aria-describedby=(hint) required[required] {
                @if default.is_null() { option value="" { "–" } }
                @for choice in &choices {
                    option value=(choice.to_string()) selected[choice == default] { (shown(choice)) }
                }
            }
        } @else if is(schema, "integer") || is(schema, "number") {
            input type="number" id=(id) data-path=(path) data-kind="number" aria-describedby=(hint) required[required]
                min=[number("minimum")] max=[number("maximum")] value=(text)
                step=(if is(schema, "integer") { "1" } else { "any" });
        } @else if is(schema, "string") {
            textarea id=(id) rows="1" data-path=(path) data-kind="text" aria-describedby=(hint) required[required]
                maxlength=[number("maxLength")] spellcheck="false" { (text) }
        } @else if is(schema, "array") && is_plain(&schema["items"]) {
            textarea id=(id) rows="2" data-path=(path) data-kind=(if is(&schema["items"], "string") { "lines" } else { "values" })
                aria-describedby=(hint) required[required] placeholder="one in each line" spellcheck="false" {}
        } @else {
            textarea id=(id) rows="3" data-path=(path) data-kind="json" aria-describedby=(hint) required[required]
                placeholder="JSON" spellcheck="false" { (text) }
        }
    }
}

fn choices(schema: &Value) -> Vec<Value> {
    match schema["enum"].as_array() {
        Some(all) => all.clone(),
        None if is(schema, "boolean") => vec![true.into(), false.into()],
        None => Vec::new(),
    }
}

fn shown(choice: &Value) -> String {
    choice.as_str().map_or_else(|| choice.to_string(), str::to_owned)
}

/// Whether a schema has this type, alone or beside `null`.
fn is(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::String(only) => only == kind,
        Value::Array(several) => several.iter().all(|one| one == kind || one == "null") && !several.is_empty(),
        _ => false,
    }
}

fn is_plain(schema: &Value) -> bool {
    ["string", "integer", "number", "boolean"].iter().any(|kind| is(schema, kind))
}

/// What is expected, such as `integer, 1 to 100`.
fn kind_in_words(schema: &Value) -> String {
    let kind = match &schema["type"] {
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    };
    let bounds = match (schema["minimum"].as_number(), schema["maximum"].as_number()) {
        (Some(least), Some(most)) => format!(", {least} to {most}"),
        (Some(least), None) => format!(", from {least}"),
        (None, Some(most)) => format!(", up to {most}"),
        (None, None) => String::new(),
    };
    let format = schema["format"].as_str().map_or_else(String::new, |format| format!(", {format}"));
    format!("{kind}{format}{bounds}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::properties;

    fn rendered(schema: &serde_json::Value) -> String {
        properties(schema, schema, &[]).into_string()
    }

    #[test]
    fn each_type_has_its_control() {
        let form = rendered(&json!({
            "required": ["count"],
            "properties": {
                "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
                "kind": {"type": "string", "enum": ["a", "b"]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "deep": {"type": "array", "items": {"type": "object"}},
                "order": {"$ref": "#/$defs/Order"},
            },
            "$defs": {"Order": {"type": "object", "properties": {"sku": {"type": "string"}}}},
        }));
        for part in [
            r#"type="number""#,
            r#"min="1" max="9" value="3""#,
            r#"<option value="&quot;a&quot;">a</option>"#,
            r#"data-kind="lines""#,
            r#"data-kind="json""#,
            r#"<legend>order</legend>"#,
            r#"data-path="[&quot;order&quot;,&quot;sku&quot;]""#,
        ] {
            assert!(form.contains(part), "{part} is not in {form}");
        }
    }

    #[test]
    fn a_schema_that_leads_back_to_itself_ends() {
        let schema = json!({
            "properties": {"node": {"$ref": "#/$defs/Node"}},
            "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
        });
        assert!(rendered(&schema).contains(r#"data-kind="json""#));
    }

    #[test]
    fn words_of_a_schema_are_text() {
        let form = rendered(&json!({"properties": {"<script>": {"type": "string", "description": "<img onerror=x>"}}}));
        assert!(!form.contains("<script>") && !form.contains("<img"), "{form}");
    }
}
