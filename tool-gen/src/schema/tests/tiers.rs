//! Arguments and results, as the runtime describes them.

use serde_json::json;
use tool_model::trace::TracedSchemas;

use super::super::argument::{SeenArgument, SeenResult};
use super::super::{DecodedForm, argument, returns};
use super::*;
use crate::ty::{ScopeId, TypeSource};

const SOURCE: &str = r#"
    #[derive(Deserialize, Serialize, JsonSchema)] struct Order { number: u32 }
    #[derive(Deserialize)] struct Undescribed { a: u8 }
    #[derive(Deserialize)] #[serde(rename_all = "lowercase")] enum UndescribedEnum { Up, Down }
    struct Text; impl FromStr for Text {}
    struct Nothing;
    struct HandWritten; impl<'de> Deserialize<'de> for HandWritten {} impl JsonSchema for HandWritten {}
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Direction {
        /// Upwards.
        Up,
        #[serde(alias = "bottom")] Down,
        #[serde(skip_deserializing)] Sideways,
        #[schemars(rename = "LEFT")] Left,
    }
    #[derive(Deserialize, JsonSchema)] #[serde(transparent)] struct Through(Option<Direction>);
    #[derive(Deserialize, JsonSchema)] #[serde(from = "Option<u8>")] struct Converted;
    #[derive(Deserialize, JsonSchema)] struct Newtype(Option<u8>);
    #[derive(Deserialize, JsonSchema)] #[serde(tag = "t")] enum Tagged { A, B }
    #[derive(Deserialize, JsonSchema)] struct Foreign { order: Order, point: geo::Point }
    #[derive(Deserialize, JsonSchema)] struct LostDefault { #[serde(default = "f")] a: u8 }
    fn f() -> u8 { compute() }
"#;

/// Returns an argument without its unseen parts.
#[derive(Debug, Default, PartialEq)]
struct Shown {
    schema: Option<Value>,
    optional: bool,
    variants: Vec<String>,
}

/// Returns the form in which the macros decode a parameter of a type.
fn decoded(source: &Source, written: &str) -> DecodedForm {
    let function: syn::ItemFn = syn::parse_str(&format!("/** Does. */ fn tool(a: {written}) {{}}")).unwrap();
    let (tool, report) = tool_syntax::read_function(quote::quote!(), &function);
    report.into_result().unwrap();
    let tool_syntax::Parameter::Argument(argument) = &tool.unwrap().parameters[0] else { panic!("it is injected") };
    DecodedForm::from_form(&argument.form, |ty| source.resolve(ty, ScopeId(0), &[]))
}

fn seen(written: &str) -> SeenArgument {
    let source = Source::parse(SOURCE);
    let shapes = TypeShapes::new(&source);
    let mut generator = SchemaGenerator::new(&shapes, SchemaContract::Deserialize);
    let seen = argument(&mut generator, &decoded(&source, written));
    assert!(generator.take_unseen().is_empty(), "reports belong to the argument");
    if seen.schema.is_none() {
        assert!(generator.into_definitions().is_empty(), "what is `any` defines nothing");
    }
    seen
}

fn shown(written: &str) -> Shown {
    let SeenArgument { schema, traced, optional, variants, unseen, .. } = seen(written);
    assert!(unseen.is_empty(), "{written}: {unseen:?}");
    let traced = traced.and_then(|traced| TracedSchemas::default().schema(&traced, &mut Map::new()));
    Shown { schema: schema.or(traced), optional, variants }
}

fn schema(schema: Value, optional: bool) -> Shown {
    Shown { schema: Some(schema), optional, variants: Vec::new() }
}

#[test]
fn types_with_a_schema_are_described() {
    assert_eq!(shown("Order"), schema(json!({"$ref": "#/$defs/Order"}), false));
    assert!(shown("Box<Option<u32>>").optional);
    assert_eq!(shown("Converted"), schema(json!({"$ref": "#/$defs/Converted"}), true));
    assert!(!shown("Newtype").optional);
    assert_eq!(shown("&str"), schema(json!({"type": "string"}), false));
    assert_eq!(shown("Option<&str>"), schema(json!({"type": ["string", "null"]}), true));
    let list = json!({"type": "array", "items": {"$ref": "#/$defs/Order"}});
    assert_eq!(shown("&[Order]"), schema(list, false));
}

#[test]
fn types_without_a_schema_are_traced() {
    let reference = json!({"$ref": "#/$defs/Undescribed"});
    assert_eq!(shown("Undescribed"), schema(reference.clone(), false));
    let optional = json!({"anyOf": [reference, {"type": "null"}]});
    assert_eq!(shown("Option<Undescribed>"), schema(optional, true));
    assert_eq!(shown("Vec<Undescribed>"), schema(json!({"type": "array", "items": reference}), false));
    let variants = vec!["up".to_owned(), "down".to_owned()];
    let reference = Some(json!({"$ref": "#/$defs/UndescribedEnum"}));
    assert_eq!(shown("UndescribedEnum"), Shown { schema: reference, variants, ..Shown::default() });
}

#[test]
fn parsed_types_are_strings() {
    let text = json!({"type": "string"});
    let texts = json!({"type": "array", "items": text});
    assert_eq!(shown("Text"), schema(text.clone(), false));
    assert_eq!(shown("Option<Text>"), schema(text.clone(), true));
    assert_eq!(shown("Vec<Text>"), schema(texts.clone(), false));
    assert_eq!(shown("&[Text]"), schema(texts, false));
    assert_eq!(shown("&Text"), schema(text.clone(), false));
    assert_eq!(shown("Option<&Text>"), schema(text, true));
    for undecodable in ["Nothing", "Vec<Option<Text>>", "std::collections::HashMap<String, Text>"] {
        let seen = seen(undecodable);
        assert_eq!((seen.schema, seen.unseen.len()), (None, 1), "{undecodable}");
    }
}

#[test]
fn lists_variants_by_their_serde_names() {
    let variants = ["bottom", "down", "left", "up"];
    for written in ["Direction", "Option<Direction>", "Box<Direction>", "Through"] {
        let mut seen = shown(written).variants;
        assert_eq!(seen.first().map(String::as_str), Some("up"), "{written}");
        seen.sort();
        assert_eq!(seen, variants, "{written}");
    }
    assert!(shown("Vec<Direction>").variants.is_empty());
    assert!(shown("Tagged").variants.is_empty());
}

#[test]
fn only_an_unseen_part_is_any() {
    for (written, what) in [("Foreign", "geo::Point"), ("HandWritten", "HandWritten"), ("geo::Point", "geo::Point")] {
        let seen = seen(written);
        assert_eq!(seen.schema.is_some(), written == "Foreign", "{written}");
        assert_eq!(seen.unseen[0].inside.is_some(), written == "Foreign");
        assert_eq!(seen.unseen.iter().map(|unseen| unseen.what.as_str()).collect::<Vec<_>>(), [what]);
    }
    let seen = seen("LostDefault");
    assert!(seen.schema.is_some());
    assert_eq!(seen.unseen.iter().map(|unseen| unseen.loss).collect::<Vec<_>>(), [LossKind::Detail]);
}

#[test]
fn a_url_is_described_everywhere() {
    let uri = json!({"type": "string", "format": "uri"});
    assert_eq!(shown("url::Url"), schema(uri.clone(), false));
    assert_eq!(shown("&url::Url"), schema(uri.clone(), false));
    assert_eq!(shown("Vec<url::Url>"), schema(json!({"type": "array", "items": uri}), false));
    assert!(shown("Option<Vec<url::Url>>").optional);
    assert!(shown("Option<&url::Url>").schema.is_some());
    assert!(shown("std::collections::HashMap<String, url::Url>").schema.is_some());
}

#[test]
fn an_unseen_part_is_reported_once() {
    let source = Source::parse(SOURCE);
    let shapes = TypeShapes::new(&source);
    let mut generator = SchemaGenerator::new(&shapes, SchemaContract::Deserialize);
    for reports in [1, 0] {
        let seen = argument(&mut generator, &DecodedForm::Owned(source.ty("Foreign")));
        assert_eq!((seen.schema.is_some(), seen.unseen.len()), (true, reports));
    }
    assert!(argument(&mut generator, &DecodedForm::Owned(source.ty("Order"))).schema.is_some());
    assert_eq!(generator.into_definitions().len(), 2);
}

#[test]
fn a_result_is_described_by_its_success_type() {
    let source = Source::parse(SOURCE);
    let shapes = TypeShapes::new(&source);
    let order = json!({"$ref": "#/$defs/Order"});
    for written in
        ["Order", "Result<Order, String>", "std::io::Result<Order>", "anyhow::Result<Order>", "a::AppResult<Order>"]
    {
        let SeenResult { schema: seen, unseen } = returns(&shapes, &source.ty(written));
        assert_eq!(
            seen.map(|(schema, definitions)| (schema, definitions.len())),
            Some((order.clone(), 1)),
            "{written}"
        );
        assert!(unseen.is_empty());
    }
    for written in ["()", "Result<(), String>", "Undescribed", "Vec<Undescribed>"] {
        let SeenResult { schema: seen, unseen } = returns(&shapes, &source.ty(written));
        assert_eq!((seen, unseen.len()), (None, 0), "{written}");
    }
    let SeenResult { schema: seen, unseen } = returns(&shapes, &source.ty("Result<geo::Point, String>"));
    assert_eq!((seen, unseen.len()), (None, 1));
}
