use console::settings::Extension;
use serde_json::json;
use tool_runtime::ErrorKind;

use crate::fixture::{Console, kind};
use crate::sampler::until;

#[tokio::test(flavor = "multi_thread")]
async fn no_tools_are_offered_without_ai_chat() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(folder.path().join("data")).expect("a folder");
    std::fs::write(folder.path().join("data/settings.json"), r#"{"extensions": ["sampler"]}"#).expect("settings");
    let console = Console::open_in(folder).await;
    assert!(console.app.dispatcher().definitions().is_empty());
    assert!(!console.path("data/tools_calls.json").exists(), "the manifest is not even written");
    let result = console.call("system_simple.summary", json!({})).await;
    assert_eq!(kind(&result), Some(ErrorKind::UnknownTool));

    console.app.settings.switch(Extension::AiChat, true).expect("a setting");
    until(async || !console.app.dispatcher().definitions().is_empty()).await;
    console.answer("system_simple.summary", json!({})).await;
    assert!(console.path("data/tools_calls.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_can_disable_its_tools_but_not_enable_them() {
    let console = Console::open().await;
    let all = console.app.dispatcher().definitions().len();
    let answer = console.answer("extensions.disable", json!({"extension": "ai_chat"})).await;
    assert_eq!(answer, "`ai_chat` is disabled.", "the disabling call still returns its result");
    until(async || console.app.dispatcher().definitions().is_empty()).await;
    for tool in ["extensions.enable", "read_file", "system_simple.summary"] {
        let result = console.call(tool, json!({"extension": "ai_chat"})).await;
        assert_eq!(kind(&result), Some(ErrorKind::UnknownTool), "{tool}");
    }
    assert!(!console.path("data/tools_calls.json").exists());

    console.app.settings.switch(Extension::AiChat, true).expect("a setting");
    until(async || console.app.dispatcher().definitions().len() == all).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_persist_across_a_restart() {
    let console = Console::open().await;
    console.answer("extensions.disable", json!({"extension": "internet"})).await;
    let Console { app, folder, .. } = console;
    app.close().await;
    let console = Console::open_in(folder).await;
    assert!(!console.app.settings.get().has(Extension::Internet));
    assert!(console.app.settings.get().has(Extension::AiChat));
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_settings_are_rejected_and_the_old_ones_kept() {
    let console = Console::open().await;
    let before = std::fs::read_to_string(console.path("data/settings.json")).expect("settings");
    let error = console.app.settings.change(|settings| settings.sampler.every_seconds = 0).expect_err("it is refused");
    assert!(error.to_string().contains("`sampler.every_seconds` must be between"), "{error}");
    assert_eq!(std::fs::read_to_string(console.path("data/settings.json")).expect("settings"), before);
    assert_eq!(console.app.settings.get().sampler.every_seconds, 10);
}
