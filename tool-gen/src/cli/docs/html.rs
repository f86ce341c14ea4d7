//! The catalogue as one HTML page.

use std::fmt::Write;

use tool_model::validate::describe;
use tool_model::{Manifest, ToolDefinition, estimate_tokens};

use super::type_tables::{DocField, DocType, FieldNeed, arguments, types};
use crate::cli::terminal::count;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

pub(super) fn page(title: &str, manifest: &Manifest) -> String {
    let tokens: usize = manifest.iter().map(|(name, tool)| estimate_tokens(name, tool)).sum();
    let title = escaped(title);
    let mut list = String::new();
    let mut tools = String::new();
    for (name, tool) in manifest.iter() {
        let name = escaped(name);
        let _ = writeln!(list, r##"<li data-tool="{name}"><a href="#{name}">{name}</a></li>"##);
        section(&mut tools, &name, tool, estimate_tokens(&name, tool));
    }
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{STYLE}</style>
</head>
<body>
<nav aria-label="Tools">
<h1>{title}</h1>
<p class="quiet">{count}, about {tokens} tokens</p>
<input id="search" type="search" placeholder="Search" aria-label="Search" hidden>
<ul>
{list}</ul>
</nav>
<main>
<p id="none" hidden>No matching tools.</p>
{tools}</main>
<script>
{SCRIPT}</script>
</body>
</html>
"#,
        count = count(manifest.len(), "tool"),
    )
}

fn section(page: &mut String, name: &str, tool: &ToolDefinition, tokens: usize) {
    let _ = writeln!(page, r##"<article id="{name}" data-tool="{name}">"##);
    let _ = writeln!(page, r##"<h2><a href="#{name}">{name}</a></h2>"##);
    let flags = tool_model::flags(tool).into_iter().map(|flag| ("flag", flag));
    let tags = tool.category.iter().chain(&tool.tags).map(|tag| ("tag", tag.clone()));
    let badges: String =
        flags.chain(tags).map(|(class, word)| format!(r#"<span class="{class}">{}</span>"#, escaped(&word))).collect();
    let _ = writeln!(page, r#"<p class="badges">{badges}<span class="quiet">about {tokens} tokens</span></p>"#);
    let _ = writeln!(page, "<p>{}</p>", prose(&tool.full_description()));
    if let Some(instructions) = &tool.instructions {
        let _ = writeln!(page, r#"<p class="instructions">{}</p>"#, prose(instructions));
    }
    fields(page, &arguments(tool));
    if let Some(returns) = &tool.returns {
        let _ = writeln!(page, "<p><b>Returns</b> {}</p>", escaped(&describe(returns, &tool.defs)));
    }
    let types = types(tool);
    if !types.is_empty() {
        page.push_str("<details><summary>Types</summary>\n");
        types.iter().for_each(|definition| described(page, definition));
        page.push_str("</details>\n");
    }
    let _ = writeln!(page, r#"<p class="quiet"><code>{}</code></p>"#, escaped(&tool.handler));
    page.push_str("</article>\n");
}

/// Renders a type that the arguments or the result refer to.
fn described(page: &mut String, definition: &DocType) {
    let _ = writeln!(page, "<h3><code>{}</code></h3>", escaped(&definition.name));
    if !definition.description.is_empty() {
        let _ = writeln!(page, "<p>{}</p>", prose(&definition.description));
    }
    let is_enum = definition.forms.len() > 1;
    for form in &definition.forms {
        if is_enum || form.fields.is_empty() {
            let kind = prose(&form.kind);
            let _ = writeln!(page, r#"<p><span class="quiet">{kind}</span> {}</p>"#, prose(&form.description));
        }
        fields(page, &form.fields);
    }
}

fn fields(page: &mut String, fields: &[DocField]) {
    if fields.is_empty() {
        return;
    }
    page.push_str("<dl>\n");
    for field in fields {
        let need = match &field.need {
            FieldNeed::Required => r#"<span class="required">required</span>"#.to_owned(),
            FieldNeed::Optional => "optional".to_owned(),
            FieldNeed::Default(value) => format!("default <code>{}</code>", escaped(value)),
        };
        let (name, kind) = (escaped(&field.name), prose(&field.kind));
        let _ = writeln!(
            page,
            r#"<dt><code>{name}</code> <span class="quiet">{kind}, {need}</span></dt><dd>{}</dd>"#,
            prose(&field.description)
        );
    }
    page.push_str("</dl>\n");
}

/// Renders text with line breaks and `code`. A backquote behind a backslash, or without a partner, is literal.
fn prose(text: &str) -> String {
    const ESCAPED: &str = "\u{1}";
    let text = escaped(text).replace("\\`", ESCAPED);
    let parts: Vec<&str> = text.split('`').collect();
    let mut html = String::new();
    for (index, part) in parts.iter().enumerate() {
        let is_code = index % 2 == 1;
        let has_partner = index + 1 < parts.len();
        match (is_code, has_partner) {
            (true, true) => html.push_str(&format!("<code>{part}</code>")),
            (true, false) => html.push_str(&format!("`{part}")),
            (false, _) => html.push_str(part),
        }
    }
    html.replace(ESCAPED, "`").replace('\n', "<br>")
}

/// Escapes text and attributes in double quotes.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_hostile_text() {
        let nasty = r#"</script><img src=x onerror="alert(1)">'&`</code>`"#;
        let tool = serde_json::json!({
            "description": nasty, "handler": nasty, "instructions": nasty, "category": nasty, "tags": [nasty],
            "arguments": {nasty: {"type": "string", "default": nasty, "description": nasty, "enum": [nasty]}},
            "$defs": {nasty: {"description": nasty, "properties": {nasty: {"enum": [nasty], "description": nasty}}}}, "returns": {"$ref": "#/$defs/A", "title": nasty}
        });
        let manifest = Manifest::from_json(&serde_json::json!({nasty: tool}).to_string()).unwrap();
        let page = page(nasty, &manifest);
        assert!(!page.contains("<img"));
        assert_eq!(page.matches("</script>").count(), 1);
        assert_eq!(page.matches("<article").count(), 1);
    }

    #[test]
    fn renders_code_in_text() {
        assert_eq!(prose("a `b` c"), "a <code>b</code> c");
        assert_eq!(prose("a `b"), "a `b");
        assert_eq!(prose(r"a \` `b` <"), "a ` <code>b</code> &lt;");
    }
}
