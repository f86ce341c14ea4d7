//! The catalogue as one HTML page.

use std::fmt::Write;

use tool_model::validate::describe;
use tool_model::{Manifest, ToolDefinition, canonical, estimate_tokens};

use crate::cli::show::short;
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
<input id="search" type="search" placeholder="Search names, words, arguments" aria-label="Search" hidden>
<ul>
{list}</ul>
</nav>
<main>
<p id="none" hidden>No tool has these words.</p>
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
    let flags = short::flags(tool).into_iter().map(|flag| ("flag", flag));
    let tags = tool.category.iter().chain(&tool.tags).map(|tag| ("tag", tag.clone()));
    let badges: String =
        flags.chain(tags).map(|(class, word)| format!(r#"<span class="{class}">{}</span>"#, escaped(&word))).collect();
    let _ = writeln!(page, r#"<p class="badges">{badges}<span class="quiet">about {tokens} tokens</span></p>"#);
    let _ = writeln!(page, "<p>{}</p>", prose(&tool.description));
    if let Some(instructions) = &tool.instructions {
        let _ = writeln!(page, r#"<p class="instructions">{}</p>"#, prose(instructions));
    }
    arguments(page, tool);
    if let Some(returns) = &tool.returns {
        let _ = writeln!(page, "<p><b>Returns</b> {}</p>", escaped(&describe(returns, &tool.defs)));
    }
    if !tool.defs.is_empty() {
        let definitions: serde_json::Map<_, _> = tool.defs.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        let text = tool_model::to_pretty(&definitions);
        let _ =
            writeln!(page, "<details><summary>Definitions</summary><pre>{}</pre></details>", escaped(text.trim_end()));
    }
    let _ = writeln!(page, r#"<p class="quiet"><code>{}</code></p>"#, escaped(&tool.handler));
    page.push_str("</article>\n");
}

fn arguments(page: &mut String, tool: &ToolDefinition) {
    if tool.arguments.is_empty() {
        return;
    }
    page.push_str("<dl>\n");
    for (name, argument) in &tool.arguments {
        let need = match argument.keywords.get("default") {
            _ if argument.required => r#"<span class="required">required</span>"#.to_owned(),
            Some(default) => format!("default <code>{}</code>", escaped(&canonical(default))),
            None => "optional".to_owned(),
        };
        let kind = escaped(&describe(&argument.schema(), &tool.defs));
        let description = argument.description.as_deref().map(prose).unwrap_or_default();
        let _ = writeln!(
            page,
            r#"<dt><code>{}</code> <span class="quiet">{kind}, {need}</span></dt><dd>{description}</dd>"#,
            escaped(name)
        );
    }
    page.push_str("</dl>\n");
}

/// Text with its lines and its `code` kept.
fn prose(text: &str) -> String {
    let mut html = String::new();
    for (index, part) in escaped(text).split('`').enumerate() {
        // An odd number of backquotes leaves the last one open: then it is none.
        let is_code = index % 2 == 1;
        html.push_str(if is_code { "<code>" } else { "" });
        html.push_str(part);
        html.push_str(if is_code { "</code>" } else { "" });
    }
    html.replace('\n', "<br>")
}

/// For text and for attributes in double quotes.
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
    fn nothing_gets_out_of_its_place() {
        let nasty = r#"</script><img src=x onerror="alert(1)">'&`</code>`"#;
        let tool = serde_json::json!({
            "description": nasty, "handler": nasty, "instructions": nasty, "category": nasty, "tags": [nasty],
            "arguments": {nasty: {"type": "string", "default": nasty, "description": nasty, "enum": [nasty]}},
            "$defs": {nasty: {"description": nasty}}, "returns": {"$ref": "#/$defs/A", "title": nasty}
        });
        let manifest = Manifest::from_json(&serde_json::json!({nasty: tool}).to_string()).unwrap();
        let page = page(nasty, &manifest);
        assert!(!page.contains("<img"));
        assert_eq!(page.matches("</script>").count(), 1);
        assert_eq!(page.matches("<article").count(), 1);
    }
}
