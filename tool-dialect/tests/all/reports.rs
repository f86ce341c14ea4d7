//! Loss reports and limits.

use serde_json::{Value, json};
use tool_dialect::{Dialect, DialectForm, LossFinding, LossLevel};
use tool_model::{Manifest, ToolDefinition};

use crate::fixtures::tool;

fn found(form: impl Into<DialectForm>, arguments: Value, defs: Value) -> Vec<String> {
    let tool = tool(arguments, defs);
    let line = |found: &LossFinding| format!("{:?} {} {}", found.level, found.kind, found.path);
    form.into().report([("f", &tool)]).findings.iter().map(line).collect()
}

#[test]
fn a_map_cannot_be_strict() {
    let labels = json!({"labels": {"type": "object", "required": true, "additionalProperties": {"type": "string"}}});
    assert!(found(Dialect::OpenAiChat, labels.clone(), json!({})).is_empty());
    assert_eq!(found(Dialect::OpenAiChat.strict(), labels.clone(), json!({})), ["Loss map labels"]);
    assert_eq!(found(Dialect::Gemini, labels.clone(), json!({})), ["Loss map labels"]);
    let tool = tool(labels, json!({}));
    let offer = Dialect::OpenAiChat.strict().offer([("f", &tool)]).expect("one tool");
    assert!(!offer.is_strict("f"));
    assert_eq!(offer.definitions()[0]["function"].get("strict"), None);
    assert_eq!(
        offer.definitions()[0]["function"]["parameters"]["properties"]["labels"]["additionalProperties"]["type"],
        "string"
    );
    let report = Dialect::OpenAiChat.strict().report([("f", &tool)]);
    assert_eq!(
        report.to_string(),
        "`f` labels: OpenAI does not support maps with arbitrary keys, so the tool is not offered strictly \
         (use a list of key-value pairs, or a struct; `strict = false` silences this)\n"
    );
}

#[test]
fn gemini_and_strict_claude_lose_recursive_types() {
    let arguments = json!({"tree": {"type": "object", "required": true, "$ref": "#/$defs/Tree"}});
    let children = json!({"type": "array", "items": {"$ref": "#/$defs/Tree"}});
    let defs = json!({"Tree": {"type": "object", "properties": {"children": children}}});
    assert_eq!(found(Dialect::Gemini, arguments.clone(), defs.clone()), ["Loss recursive tree"]);
    assert_eq!(found(Dialect::Anthropic.strict(), arguments.clone(), defs.clone()), ["Loss recursive tree"]);
    for form in [Dialect::OpenAiChat.strict(), Dialect::Anthropic.into(), Dialect::Mcp.into()] {
        assert!(found(form, arguments.clone(), defs.clone()).is_empty(), "{form}");
    }
}

#[test]
fn reports_a_moved_bound_as_a_note_with_its_path() {
    let items = json!({"type": "object", "properties": {"sku": {"type": "string", "minLength": 2}}, "required": ["sku"], "additionalProperties": false});
    let arguments = json!({"order": {"type": "array", "required": true, "items": items}});
    assert_eq!(found(Dialect::OpenAiChat.strict(), arguments.clone(), json!({})), ["Note moved order[].sku"]);
    assert!(found(Dialect::Gemini, arguments, json!({})).is_empty(), "Gemini reads it");
}

#[test]
fn reports_exceeded_request_limits() {
    let many = |count: usize, tool: &ToolDefinition| -> Manifest {
        (0..count).map(|at| (format!("tool_{at}"), tool.clone())).collect()
    };
    let plain = tool(json!({"x": {"type": "string", "required": true}}), json!({}));
    assert!(Dialect::OpenAiChat.report(many(128, &plain).iter()).is_empty());
    let report = Dialect::OpenAiChat.report(many(129, &plain).iter());
    assert_eq!(report.findings.len(), 1);
    assert_eq!((report.findings[0].level, report.findings[0].kind), (LossLevel::Limit, "too-many-tools"));
    assert!(report.findings[0].message.contains("129 tools are offered, but OpenAI allows 128"));

    let strict = |manifest: &Manifest| {
        let offer = Dialect::Anthropic.strict().offer(manifest.iter()).expect("names stay apart");
        let report = Dialect::Anthropic.strict().report(manifest.iter());
        let strict = manifest.iter().filter(|(name, _)| offer.is_strict(name)).count();
        assert_eq!(
            report.findings.iter().filter(|found| found.kind == "strict-budget").count(),
            manifest.len() - strict
        );
        strict
    };
    assert_eq!(strict(&many(25, &plain)), 20, "twenty strict tools a request");
    let optional = tool(
        json!({"x": {"type": "string", "required": false}, "y": {"type": "string", "required": false}}),
        json!({}),
    );
    assert_eq!(strict(&many(15, &optional)), 12, "24 optional arguments a request");
    let union = tool(
        json!({"x": {"type": "any", "required": true, "anyOf": [{"type": "string"}, {"type": "integer"}]}}),
        json!({}),
    );
    assert_eq!(strict(&many(19, &union)), 16, "16 unions a request");
}

/// Tools with `strict = true` get the budget first; tools with `strict = false` are never strict.
#[test]
fn a_tool_can_require_or_decline_strict_mode() {
    let mut manifest = Manifest::default();
    for at in 0..30 {
        let mut tool = tool(json!({}), json!({}));
        tool.strict = (at >= 25).then_some(true);
        manifest.insert(format!("tool_{at:02}"), tool);
    }
    let offer = Dialect::Anthropic.strict().offer(manifest.iter()).expect("names stay apart");
    assert!((25..30).all(|at| offer.is_strict(&format!("tool_{at}"))));
    assert!(offer.is_strict("tool_14") && !offer.is_strict("tool_15"));

    let mut asking = tool(json!({}), json!({}));
    asking.strict = Some(true);
    let mut declining = asking.clone();
    declining.strict = Some(false);
    assert!(Dialect::OpenAiChat.offer([("f", &asking)]).expect("one tool").is_strict("f"));
    assert!(!Dialect::OpenAiChat.strict().offer([("f", &declining)]).expect("one tool").is_strict("f"));
}

#[test]
fn reports_exceeded_strict_limits() {
    let mut deep = json!({"type": "string"});
    for _ in 0..10 {
        deep = json!({"type": "array", "items": deep});
    }
    let with_flag = |mut schema: Value| {
        schema["required"] = json!(true);
        json!({"x": schema})
    };
    assert_eq!(found(Dialect::OpenAiChat.strict(), with_flag(deep.clone()), json!({})), ["Loss depth "]);
    assert!(found(Dialect::OpenAiChat.strict(), with_flag(deep["items"].clone()), json!({})).is_empty());
    let values: Vec<String> = (0..1_001).map(|at| at.to_string()).collect();
    let choice = json!({"type": "string", "enum": values});
    assert_eq!(found(Dialect::OpenAiChat.strict(), with_flag(choice), json!({})), ["Loss enum-values "]);
}

#[test]
fn reports_renames_and_missing_strict_modes() {
    let tool = tool(json!({"user-name": {"type": "string", "required": true}}), json!({}));
    let long = "x".repeat(70);
    let report = Dialect::Gemini.strict().report([(long.as_str(), &tool)]);
    let kinds: Vec<_> = report.findings.iter().map(|found| (found.level, found.kind)).collect();
    assert_eq!(
        kinds,
        [(LossLevel::Loss, "no-strict-mode"), (LossLevel::Loss, "name"), (LossLevel::Note, "argument-name")]
    );
    assert!(report.findings.iter().all(|found| !found.remedy.is_empty()));

    let report = Dialect::OpenAiChat.report([("a.b", &tool), ("a__b", &tool)]);
    assert_eq!(report.findings[0].kind, "name-clash");
    assert!(report.to_string().contains("`a.b` and `a__b` are both named `a__b` for OpenAI"), "{report}");
}
