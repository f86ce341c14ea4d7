//! One tool in detail.

use std::fmt::Write;

use serde_json::Value;
use tool_model::validate::describe;
use tool_model::{ToolDefinition, canonical, estimate_tokens, flags, to_pretty};

use crate::cli::terminal::{BOLD, CYAN, DIM, YELLOW, styled};
use crate::cli::wrap::wrapped;

pub(super) fn of(name: &str, tool: &ToolDefinition, width: usize) -> String {
    let mut text = format!("{}\n", styled(BOLD, name));
    paragraph(&mut text, &tool.full_description(), "  ", width);
    if let Some(instructions) = &tool.instructions {
        section(&mut text, "Instructions");
        paragraph(&mut text, instructions, "  ", width);
    }
    arguments(&mut text, tool, width);
    if let Some(returns) = &tool.returns {
        section(&mut text, "Returns");
        paragraph(&mut text, &describe(returns, &tool.defs), "  ", width);
    }
    facts(&mut text, name, tool);
    if !tool.defs.is_empty() {
        section(&mut text, "Definitions");
        for (name, def) in &tool.defs {
            let shown = to_pretty(&Sorted(def)).trim_end().replace('\n', "\n  ");
            let _ = writeln!(text, "  {}\n  {shown}", styled(CYAN, name));
        }
    }
    text
}

fn arguments(text: &mut String, tool: &ToolDefinition, width: usize) {
    if tool.arguments.is_empty() {
        return;
    }
    section(text, "Arguments");
    let (required, optional): (Vec<_>, Vec<_>) = tool.arguments.iter().partition(|(_, argument)| argument.required);
    for (name, argument) in required.into_iter().chain(optional) {
        let mut facts = vec![if argument.required { "required".to_owned() } else { "optional".to_owned() }];
        facts.extend(argument.keywords.get("default").map(|value| format!("default {}", canonical(value))));
        facts.extend(argument.is_secret().then(|| "secret".to_owned()));
        let _ = writeln!(text, "  {} {}", styled(CYAN, name), styled(DIM, facts.join(", ")));
        paragraph(text, &describe(&argument.schema(), &tool.defs), "    ", width);
        if let Some(description) = &argument.description {
            paragraph(text, description, "    ", width);
        }
    }
}

fn facts(text: &mut String, name: &str, tool: &ToolDefinition) {
    section(text, "About");
    let flags = flags(tool);
    let facts = [
        ("handler", Some(tool.handler.clone())),
        ("category", tool.category.clone()),
        ("tags", (!tool.tags.is_empty()).then(|| tool.tags.join(", "))),
        ("flags", (!flags.is_empty()).then(|| styled(YELLOW, flags.join(", ")))),
        ("tokens", Some(format!("about {}", estimate_tokens(name, tool)))),
    ];
    for (key, value) in facts {
        if let Some(value) = value {
            let _ = writeln!(text, "  {} {value}", styled(DIM, format_args!("{key:<9}")));
        }
    }
}

fn section(text: &mut String, title: &str) {
    let _ = writeln!(text, "\n{}", styled(BOLD, title));
}

fn paragraph(text: &mut String, words: &str, indent: &str, width: usize) {
    for line in wrapped(words, width.saturating_sub(indent.len())) {
        let _ = writeln!(text, "{}", format!("{indent}{line}").trim_end());
    }
}

/// A schema with its keys in order.
struct Sorted<'a>(&'a Value);

impl serde::Serialize for Sorted<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => {
                let sorted: std::collections::BTreeMap<_, _> = map.iter().map(|(k, v)| (k, Sorted(v))).collect();
                sorted.serialize(serializer)
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Sorted)),
            other => other.serialize(serializer),
        }
    }
}
