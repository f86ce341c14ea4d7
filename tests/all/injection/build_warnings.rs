//! Warnings of `build()`: what no tool uses, what nobody can approve, what the model cannot know.

use serde_json::json;
use tool_runtime::confirm::Terminal;
use tool_runtime::{Builder, Dispatcher, Manifest, Policy, RuntimeTool, ToolCall, confirm, tool, tool_class};

use super::{only, tools};

/// Greet the host.
#[tool(name = "warned.greet")]
fn greet_warned(#[inject] ping_host: &String) -> String {
    format!("Hello {ping_host}")
}

/// Purge everything.
#[tool(name = "warned.purge", destructive)]
fn purge_warned() {}

#[tool(name = "warned.silent")]
fn undescribed_warned() {}

/// Accepts a number or a name.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Reference {
    Number(u8),
    Name(String),
}

#[derive(serde::Deserialize)]
struct Lookup {
    keys: Vec<Reference>,
}

/// Look something up.
#[tool(name = "warned.lookup")]
fn lookup_warned(lookup: Lookup, again: Option<Lookup>, #[arg(any)] accepted: Reference) -> usize {
    let length = |key: Reference| match key {
        Reference::Number(number) => usize::from(number),
        Reference::Name(name) => name.len(),
    };
    let all = lookup.keys.into_iter().chain(again.into_iter().flat_map(|lookup| lookup.keys)).chain([accepted]);
    all.map(length).sum()
}

struct WarnedService;

#[tool_class(manual, prefix = "warned.service")]
impl WarnedService {
    /// Run.
    pub fn run(&self) {}
}

fn greeting() -> Builder {
    tools("greet_warned").value("ping_host", "1.1.1.1".to_owned())
}

fn warnings(builder: Builder) -> Vec<String> {
    builder.build().unwrap().explain().warnings.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn warns(builder: Builder, expected: &str) {
    let warnings = warnings(builder);
    assert_eq!(warnings, [expected]);
}

#[test]
fn a_dispatcher_without_mistakes_has_no_warnings() {
    assert!(warnings(greeting()).is_empty());
}

#[tokio::test]
async fn warns_about_parts_of_arguments_that_the_model_cannot_see() {
    let tools = tools("lookup_warned").build().unwrap();
    let warnings: Vec<String> = tools.explain().warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings[0].starts_with(
            "`warned.lookup`: the model cannot see what `lookup.keys[]` (`Reference`) accepts: its `Deserialize` accepts \
             any kind of value; derive `JsonSchema` for the argument's type and add `#[schemars(with = \"String\")]`"
        ),
        "{warnings:?}"
    );
    assert!(warnings[1].contains("`again.keys[]`"), "an `Option` is another type: {warnings:?}");
    let call = ToolCall::new("warned.lookup", json!({"lookup": {"keys": [7, "abc"]}, "accepted": "x"}));
    assert_eq!(tools.call(call).await.output, "11");
}

#[test]
fn warns_about_limits_of_tools_that_do_not_exist() {
    use tool_runtime::limits::{Limit, Limiter, Retries};
    let limiter = || Limiter::new().tool("warned.greet", Limit::per_minute(5));
    assert!(warnings(greeting().limit(limiter())).is_empty());
    warns(
        greeting().limit(limiter().tool("warned.gret", Limit::per_minute(5))),
        "a `Limiter` names the tool `warned.gret`, which does not exist; did you mean `warned.greet`?",
    );
    warns(
        greeting().retries(Retries::each(3).tool("search", 10)),
        "a `Retries` names the tool `search`, which does not exist; remove it, or register the tool",
    );
}

#[test]
fn warns_about_values_that_no_tool_uses() {
    warns(
        greeting().value("ping_hots", 7_u8),
        "no tool uses `.value(\"ping_hots\", ..)`, a `u8`; did you mean the parameter `ping_host`?",
    );
    warns(greeting().value("other", 7_u8), "no tool uses `.value(\"other\", ..)`, a `u8`; remove it");
    warns(greeting().per_call::<u8>(), "no tool uses `.per_call::<u8>()`; remove it");
    let provider = |_| async { Ok::<_, tool_runtime::inject::InjectError>(7_u8) };
    warns(greeting().provide("other", provider), "no tool uses `.provide(\"other\", ..)`, a `u8`; remove it");
}

/// A provider may read any value through its scope, which `build()` cannot see.
#[test]
fn does_not_judge_values_that_a_provider_may_read() {
    let provider = |scope: tool_runtime::Scope| async move {
        let number: u8 = scope.get("other").await?;
        Ok::<_, tool_runtime::inject::InjectError>(number.to_string())
    };
    let builder = tools("greet_warned").value("other", 7_u8).provide("ping_host", provider);
    assert!(warnings(builder).is_empty());
}

#[test]
fn warns_about_services_that_no_tool_uses() {
    struct WarnedServices;
    let remedy = "did you mean the type `WarnedService`? Otherwise remove it, or pass it with `.value(..)` if only \
                  providers read it";
    warns(
        greeting().service(WarnedServices),
        &format!("no tool uses the `WarnedServices` of `.service(..)`; {remedy}"),
    );
    warns(
        greeting().service_mut(WarnedServices),
        &format!("no tool uses the `WarnedServices` of `.service_mut(..)`; {remedy}"),
    );
    let given = greeting().also(WarnedService).build().unwrap();
    assert!(given.definition("warned.service.run").is_some());
    assert!(given.explain().warnings.is_empty(), "the control");
}

#[test]
fn tells_types_of_one_short_name_apart() {
    struct WarnedService;
    let warnings = warnings(greeting().service(WarnedService));
    assert!(
        warnings[0].contains("tells_types_of_one_short_name_apart::WarnedService` is another type than the wanted `"),
        "{warnings:?}"
    );
}

#[test]
fn warns_about_approvals_without_a_confirmer() {
    let purge = || tools("purge_warned");
    let warned = warnings(purge());
    assert_eq!(warned.len(), 1);
    assert!(warned[0].starts_with("`warned.purge`: calls need approval, and no confirmer is set"), "{warned:?}");
    assert_eq!(warnings(greeting().policy(Policy::ConfirmAll)).len(), 1);
    for builder in [
        purge().confirm(Terminal::default()),
        purge().confirm(confirm::per_call()),
        purge().policy(Policy::Yolo),
        purge().dry_run(true),
        greeting(),
    ] {
        assert!(warnings(builder).is_empty());
    }
}

#[tokio::test]
async fn a_confirmer_per_call_refuses_calls_without_one() {
    let tools = tools("purge_warned").confirm(confirm::per_call()).build().unwrap();
    let call = || tools.call(ToolCall::new("warned.purge", json!({})));
    assert!(call().await.output.contains("nobody to ask"));
    let agrees = confirm::from_fn(|_| async { tool_runtime::confirm::Decision::Run });
    assert!(call().confirm(agrees).await.success);
}

#[test]
fn warns_about_tools_without_a_description() {
    warns(
        tools("undescribed_warned"),
        "`warned.silent`: no description tells the model what it does; add a doc comment, or `description = \"..\"`",
    );
    let mut manifest = only("undescribed_warned");
    let mut described = manifest.remove("warned.silent").unwrap();
    described.description = "Described by the manifest.".to_owned();
    manifest.insert("warned.silent", described);
    assert!(warnings(Dispatcher::builder().manifest(manifest)).is_empty());
}

#[test]
fn build_and_reload_reject_a_dispatcher_without_tools() {
    let error = Dispatcher::builder().manifest(Manifest::default()).build().expect_err("no tools").to_string();
    assert!(error.contains("the manifest has no tools") && error.contains("`.allow_empty()`"), "{error}");
    let empty = Dispatcher::builder().manifest(Manifest::default()).allow_empty().build().unwrap();
    assert_eq!(empty.definitions().len(), 0);
    empty.reload(Manifest::default()).unwrap();

    let runtime = RuntimeTool::new("own", "Own.", |()| async {});
    assert!(Dispatcher::builder().manifest(Manifest::default()).tool(runtime).build().is_ok());

    let tools = greeting().build().unwrap();
    let error = tools.reload(Manifest::default()).expect_err("no tools").to_string();
    assert!(error.contains("the manifest has no tools"), "{error}");
    assert!(tools.definition("warned.greet").is_some());
}

/// Warnings are about all tools. A selection leaves out tools that use the rest.
#[test]
fn a_selection_has_no_warnings() {
    let tools = greeting().value("other", 7_u8).build().unwrap();
    let selection = tools.select(tool_runtime::Selection::new()).unwrap();
    assert!(selection.explain().warnings.is_empty());
    assert!(!tools.explain().warnings.is_empty(), "the control");
}
