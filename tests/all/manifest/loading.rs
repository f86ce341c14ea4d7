//! Manifests that do not match the program, and the tools of those that do.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tool_runtime::manifest::EmbeddedManifest;
use tool_runtime::{BuildError, Dispatcher, Manifest, Policy, tool, tool_class};

use super::linked;
use crate::fixtures::call_on;

/// A letter.
#[derive(Deserialize, JsonSchema)]
struct Letter {
    /// The text of the letter.
    text: String,
    #[serde(default = "one")]
    copies: u32,
}

fn one() -> u32 {
    1
}

/// Send a letter.
#[tool(name = "loading.send", sensitive, destructive, tags = ["post"], timeout = "5s", instructions = "Be polite.")]
fn send(
    /// The recipient.
    to: &str,
    letter: Letter,
) -> String {
    format!("{} of {:?} to {to}", letter.copies, letter.text)
}

/// Count the letters.
#[tool(name = "loading.count", read_only)]
fn count() -> u32 {
    7
}

struct Drawer;

#[tool_class(prefix = "loading_manual", manual)]
impl Drawer {
    /// Open it.
    pub fn open(&self) -> &'static str {
        "open"
    }

    /// Close it.
    pub fn close(&self) -> &'static str {
        "closed"
    }
}

fn build(text: &str) -> Result<Dispatcher, BuildError> {
    Dispatcher::builder().manifest(Manifest::from_json(text).expect("a manifest")).policy(Policy::Yolo).build()
}

/// Returns all errors of a manifest that must be rejected.
#[track_caller]
fn refusal(text: &str) -> String {
    build(text).expect_err("the manifest does not match").to_string()
}

fn text() -> String {
    linked("loading.").to_json()
}

#[test]
fn a_manifest_with_outdated_flags_is_stale() {
    let stale = text().replace("\"sensitive\": true,", "").replace("\"timeout_ms\": 5000", "\"timeout_ms\": 9000");
    let error = refusal(&stale);
    assert!(error.contains("`loading.send`: the manifest is stale: "), "{error}");
    assert!(error.contains("`sensitive` is false in the manifest, true in the code"), "{error}");
    assert!(error.contains("`timeout_ms` is 9000 in the manifest, 5000 in the code"), "{error}");
    assert!(error.contains("; write the manifest again: `tool-gen write`, or build again if"), "{error}");
}

#[test]
fn every_mismatch_is_reported_at_once() {
    let mut manifest = linked("loading.");
    let send = manifest.get("loading.send").expect("linked").clone();
    let mut gone = send.clone();
    gone.handler = "other_crate::gone".to_owned();
    manifest.insert("loading.again", send);
    manifest.insert("loading.gone", gone);
    let mut manual = manifest.get("loading.count").expect("linked").clone();
    manual.handler = "all::manifest::loading::Drawer::open".to_owned();
    manifest.insert("loading_manual.open", manual);
    let stale = manifest.to_json().replace("\"read_only\": true", "\"read_only\": false");
    let error = build(&stale).expect_err("the manifest does not match");
    assert_eq!(error.problems().len(), 4, "{error}");
    let error = error.to_string();
    for expected in [
        "`loading.again`: the manifest has its handler `all::manifest::loading::send` twice, which is called `loading.send`",
        "`loading.gone`: the manifest offers it, but its handler `other_crate::gone` is not linked; if the crate exists \
         and is never named, the linker drops it: write `use other_crate as _;`",
        "`loading_manual.open`: the manifest offers it, but `all::manifest::loading::Drawer::open` is of a `manual` class \
         and no instance is given; add `.service(..)`",
        "`loading.count`: the manifest is stale: `read_only` is false in the manifest, true in the code",
    ] {
        assert!(error.contains(expected), "{expected}\nis not in\n{error}");
    }

    let lenient = Dispatcher::builder().manifest(Manifest::from_json(&stale).unwrap()).lenient().build().unwrap();
    let names: Vec<String> = lenient.definitions().iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(names, ["loading.send"], "the rest is skipped");
}

#[test]
fn a_tool_that_was_renamed_is_named() {
    let renamed = text().replace("loading.send", "loading.sendd").replace("loading::send", "loading::sendd");
    let error = refusal(&renamed);
    assert!(
        error.contains("`all::manifest::loading::sendd` is not linked; renamed to `loading.send`? Then write"),
        "{error}"
    );
    // The control: nothing has a similar name.
    let removed = text().replace("loading.send", "loading.archive").replace("loading::send", "loading::archive");
    let error = refusal(&removed);
    assert!(error.contains("is not linked; it was removed or renamed: write the manifest again"), "{error}");
}

#[test]
fn a_function_that_moved_to_another_module_is_named() {
    let moved = text().replace("all::manifest::loading::send", "all::manifest::posting::send");
    let error = refusal(&moved);
    assert!(
        error.contains(
            "`loading.send`: the manifest is stale: its handler is now `all::manifest::loading::send`, \
             not `all::manifest::posting::send`; write the manifest again"
        ),
        "{error}"
    );
}

/// An edited description in the manifest is what the model reads.
#[test]
fn descriptions_come_from_the_manifest() {
    let edited = text()
        .replace("Send a letter.", "Send a letter by post.")
        .replace("The recipient.", "The receiver's name.")
        .replace("The text of the letter.", "The whole text.")
        .replace("Be polite.", "Be brief.");
    let tools = build(&edited).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(tools.manifest().to_json(), edited);
    let explained = tools.explain();
    let reworded: Vec<&str> = explained.tools.iter().filter(|tool| tool.is_reworded).map(|tool| &*tool.name).collect();
    assert_eq!(reworded, ["loading.send"]);
    assert!(explained.to_string().contains("texts     from the manifest, not from the code"), "{explained}");
    let letter = json!({"to": "Ada", "letter": {"text": "hi"}}).to_string();
    assert_eq!(call_on(&tools, "loading.send", &letter).output, "1 of \"hi\" to Ada");
}

/// A generator that reads source cannot evaluate a default function or see the types of other crates.
#[test]
fn facts_missing_from_the_manifest_are_filled_in() {
    let mut manifest = linked("loading.");
    let full = manifest.clone();
    let mut send = manifest.remove("loading.send").expect("linked");
    let copies = &mut send.defs.get_mut("Letter").expect("a definition")["properties"]["copies"];
    assert!(copies.as_object_mut().expect("a schema").remove("default").is_some(), "schemars has run the function");
    manifest.insert("loading.send", send.clone());
    assert_eq!(build(&manifest.to_json()).unwrap_or_else(|error| panic!("{error}")).manifest(), full);

    let letter = send.arguments.get_mut("letter").expect("an argument");
    *letter = tool_runtime::manifest::Argument::new("any", true);
    send.defs.clear();
    manifest.insert("loading.send", send);
    assert_eq!(build(&manifest.to_json()).unwrap_or_else(|error| panic!("{error}")).manifest(), full);
}

#[test]
fn text_that_is_not_a_manifest_is_reported_by_build_with_the_other_errors() {
    for text in ["", "{\"a\": ", "[]"] {
        let builder = || Dispatcher::builder().manifest(EmbeddedManifest::new("tools/broken.json", text));
        let error = builder().value("x", 1_u8).value("x", 2_u8).build().expect_err("not a manifest");
        assert_eq!(error.problems().len(), 2, "{error}");
        let words = error.to_string();
        assert!(words.contains("cannot read the manifest tools/broken.json: "), "{words}");
        assert!(builder().lenient().build().is_err(), "there is nothing to skip");
    }
}

#[test]
fn an_embedded_manifest_is_loaded() {
    let text: &'static str = text().leak();
    let tools = Dispatcher::builder().manifest(EmbeddedManifest::new("it.json", text)).build().unwrap();
    assert_eq!(tools.manifest(), linked("loading."));
}

#[test]
fn also_offers_the_tools_of_a_service_beside_the_manifest() {
    let tools = Dispatcher::builder().manifest(linked("loading.")).also(Drawer).build().unwrap();
    assert_eq!(call_on(&tools, "loading_manual.open", "{}").output, "open");
    let explained = tools.explain();
    let beside = explained.tools.iter().filter(|tool| tool.is_beside_manifest).map(|tool| &*tool.name);
    assert_eq!(beside.collect::<Vec<_>>(), ["loading_manual.close", "loading_manual.open"]);
    assert!(explained.to_string().contains("offered   beside the manifest, by `.also(..)`"), "{explained}");

    let with_entries = tools.manifest();
    for builder in [Dispatcher::builder().service(Drawer), Dispatcher::builder().also(Drawer)] {
        let again = builder.manifest(with_entries.clone()).build().unwrap();
        assert_eq!(again.manifest(), with_entries);
        assert!(again.explain().tools.iter().all(|tool| !tool.is_beside_manifest), "the manifest lists all");
    }
}

#[test]
fn a_service_whose_tools_the_manifest_does_not_list_is_a_problem() {
    let builder = || Dispatcher::builder().manifest(linked("loading.")).service(Drawer);
    let error = builder().build().expect_err("the tools have no entries");
    assert_eq!(error.problems().len(), 1, "{error}");
    assert_eq!(error.problems()[0].tools, ["loading_manual.close", "loading_manual.open"]);
    assert!(
        error.to_string().contains(
            "`loading_manual.close`, `loading_manual.open`: the manifest lists none of the tools of the `Drawer` of \
             `.service(..)`; write them into the manifest with `tool-gen write --with all::Drawer`, or offer them beside \
             it with `.also(..)` in place of `.service(..)`"
        ),
        "{error}"
    );
    let lenient = builder().lenient().build().unwrap();
    assert!(lenient.definition("loading_manual.open").is_none(), "the manifest does not list it");
}

#[test]
fn a_manifest_can_list_some_tools_of_a_service() {
    let mut manifest = Dispatcher::builder().manifest(linked("loading.")).also(Drawer).build().unwrap().manifest();
    manifest.remove("loading_manual.close").expect("the class has it");
    let tools = Dispatcher::builder().manifest(manifest).service(Drawer).build().unwrap();
    assert!(tools.definition("loading_manual.open").is_some());
    assert!(tools.definition("loading_manual.close").is_none());
    let not_offered = tools.explain().not_offered;
    assert!(not_offered.iter().any(|(name, _)| name == "loading_manual.close"), "{not_offered:?}");
}

/// Two classes with one prefix, as two crates could have them. They are `manual`, so only this test binds them.
struct First;

#[tool_class(prefix = "loading_twice", manual)]
impl First {
    /// Name the class.
    pub fn name(&self) -> &'static str {
        "first"
    }
}

struct Second;

#[tool_class(prefix = "loading_twice", manual)]
impl Second {
    /// Name the class.
    pub fn name(&self) -> &'static str {
        "second"
    }
}

#[test]
fn a_lenient_dispatcher_keeps_the_first_of_two_tools_with_one_name() {
    for order in [Dispatcher::builder().also(First).also(Second), Dispatcher::builder().also(Second).also(First)] {
        let tools = order.manifest(Manifest::default()).lenient().build().unwrap();
        assert_eq!(call_on(&tools, "loading_twice.name", "{}").output, "first", "by the path of the handler");
        let not_offered = tools.explain().not_offered;
        let second = "all::manifest::loading::Second::name";
        assert!(not_offered.iter().any(|(_, handler)| handler == second), "{not_offered:?}");
    }
    let strict = Dispatcher::builder().manifest(Manifest::default()).also(First).also(Second).build();
    let error = strict.expect_err("two tools have one name").to_string();
    for part in ["First::name (", "Second::name (", "`.lenient()` keeps the first"] {
        assert!(error.contains(part), "{error}");
    }
}
