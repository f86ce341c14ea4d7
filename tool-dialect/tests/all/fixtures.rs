//! The manifests of the fixtures, which other tests keep up to date, and all dialect forms.

use std::path::{Path, PathBuf};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use serde_json::{Value, json};
use tool_dialect::{Dialect, DialectForm};
use tool_model::{Manifest, ToolDefinition};

/// The tools of all fixtures: the whole table of types, in one manifest.
pub fn manifest() -> Manifest {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden");
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut all = Manifest::default();
    for file in files {
        let manifest = Manifest::load(file.expect("a file").path()).expect("a manifest");
        for (name, tool) in manifest.iter() {
            assert!(all.insert(name, tool.clone()).is_none(), "two fixtures are called {name}");
        }
    }
    assert!(all.len() > 50, "the fixtures are there");
    all
}

/// The dialects that have a strict mode.
pub const STRICT: [Dialect; 5] =
    [Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::OpenRouter, Dialect::Anthropic, Dialect::Bedrock];

/// Every dialect, non-strict and, where supported, strict.
pub fn forms() -> Vec<DialectForm> {
    Dialect::ALL.into_iter().map(DialectForm::from).chain(STRICT.map(Dialect::strict)).collect()
}

pub fn golden_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Returns a tool with these arguments, in the manifest's form.
pub fn tool(arguments: Value, defs: Value) -> ToolDefinition {
    let text = json!({"description": "Does it.", "handler": "app::f", "arguments": arguments, "$defs": defs});
    serde_json::from_value(text).expect("a tool")
}

/// Returns a definition without the wrapper around it.
pub fn function_of(form: DialectForm, definition: &Value) -> Value {
    match form.dialect {
        Dialect::OpenAiChat | Dialect::OpenRouter => definition["function"].clone(),
        Dialect::Bedrock => definition["toolSpec"].clone(),
        Dialect::Gemini => definition.get("functionDeclarations").map_or(definition, |all| &all[0]).clone(),
        _ => definition.clone(),
    }
}

/// Returns the schema of a definition's arguments; `null` if Gemini has none.
pub fn schema_of(form: DialectForm, definition: &Value) -> Value {
    let function = function_of(form, definition);
    match form.dialect {
        Dialect::Anthropic => function["input_schema"].clone(),
        Dialect::Bedrock => function["inputSchema"]["json"].clone(),
        Dialect::Mcp => function["inputSchema"].clone(),
        _ => function["parameters"].clone(),
    }
}

/// Returns the schema that a form writes for one required argument `x`.
pub fn argument(form: impl Into<DialectForm>, mut schema: Value, defs: Value) -> Value {
    let form = form.into();
    let object = schema.as_object_mut().expect("a schema");
    object.entry("required").or_insert(json!(true));
    object.entry("type").or_insert(json!("any"));
    let tool = tool(json!({"x": schema}), defs);
    let offer = form.offer([("f", &tool)]).expect("one tool");
    schema_of(form, &offer.definitions()[0])["properties"]["x"].clone()
}

/// Runs a property test and panics with the smallest counterexample. The seed is fixed for reproducible runs; use
/// `PROPTEST_RNG_SEED=7 PROPTEST_CASES=10000` to search longer.
#[track_caller]
pub fn holds<S: Strategy>(cases: u32, inputs: &S, property: impl Fn(S::Value) -> Result<(), String>) {
    let mut config = Config { failure_persistence: None, max_shrink_iters: 500, ..Config::default() };
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(1);
    }
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    let outcome = TestRunner::new(config).run(inputs, |input| property(input).map_err(TestCaseError::fail));
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, _)) => panic!("{}", reason.message()),
        Err(TestError::Abort(reason)) => panic!("no inputs: {reason}"),
    }
}
