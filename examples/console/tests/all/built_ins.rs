use clap::Parser;
use console::options::Options;
use console::settings::Extension;
use serde_json::json;
use tool_agent::{Message, OfflineModel, Reply, ScriptedModel};
use tool_runtime::{ErrorKind, Manifest, ToolCall};

use crate::fixture::{Console, kind};
use crate::sampler::until;
use crate::web::{Browser, card, token};

fn has(console: &Console, tool: &str) -> bool {
    console.app.dispatcher().definition(tool).is_some()
}

/// Returns `true` if the written manifest lists a tool.
fn is_written(console: &Console, tool: &str) -> bool {
    Manifest::load(console.path("data/tools_calls.json")).expect("a manifest").get(tool).is_some()
}

fn parse(options: &[&str]) -> Result<Options, String> {
    Options::try_parse_from(["console"].iter().chain(options)).map_err(|error| error.to_string())
}

#[test]
fn wrong_options_are_rejected() {
    assert!(parse(&["--policy", "yoloo"]).unwrap_err().contains("unknown policy `yoloo`; did you mean `yolo`?"));
    assert!(parse(&["--exec=yes"]).unwrap_err().contains("unexpected value"));
    assert!(parse(&["--web", "example.org"]).unwrap_err().contains("unexpected argument"));
    assert!(parse(&["--mcp"]).unwrap_err().contains("a value is required"));
    assert!(parse(&["--plugins"]).unwrap_err().contains("a value is required"));
    let options =
        parse(&["--exec", "--policy=confirm-all", "--dry-run", "--mcp=a.json", "--plugins=b"]).expect("options");
    assert_eq!(options.extensions(), [(Extension::Commands, "--exec")]);
    assert!(options.policy.dry_run && options.plugins.mcp.len() == 1 && options.plugins.plugins.len() == 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_and_the_web_are_off_by_default() {
    let console = Console::open().await;
    for (tool, is_offered) in
        [("run_command", false), ("web_fetch", false), ("web_search", false), ("message", true), ("spawn", true)]
    {
        assert_eq!((has(&console, tool), is_written(&console, tool)), (is_offered, is_offered), "{tool}");
    }
    let result = console.call("run_command", json!({"command": "touch made"})).await;
    assert_eq!(kind(&result), Some(ErrorKind::UnknownTool));

    console.app.settings.switch(Extension::Commands, true).expect("a setting");
    until(async || is_written(&console, "run_command")).await;
    assert_eq!(
        console.answer("run_command", json!({"command": "echo hello; pwd"})).await.lines().next(),
        Some("hello")
    );
    console.app.settings.switch(Extension::AiChat, false).expect("a setting");
    until(async || console.app.dispatcher().definitions().is_empty()).await;
    console.app.settings.switch(Extension::AiChat, true).expect("a setting");
    until(async || has(&console, "run_command")).await;
    console.app.settings.switch(Extension::Commands, false).expect("a setting");
    until(async || !has(&console, "run_command") && !is_written(&console, "run_command")).await;
    assert!(has(&console, "message"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_enables_commands_without_storing_it() {
    let console = Console::with_options(&["--exec", "--web"], OfflineModel).await;
    assert!(has(&console, "run_command") && has(&console, "web_fetch"));
    let error = console.app.settings.switch(Extension::Commands, false).expect_err("it is refused").to_string();
    assert!(error.contains("`commands` is enabled by `--exec`"), "{error}");
    console.app.settings.switch(Extension::Alerts, false).expect("a setting");
    assert!(has(&console, "run_command"), "another change keeps it");
    let page = Browser::new(&console).page("/settings").await;
    assert!(page.contains("Enabled by <code>--exec</code>"), "{page}");
    assert!(!page.contains("&quot;commands&quot;"), "the file does not have it: {page}");
    let Console { app, folder, .. } = console;
    app.close().await;
    let console = Console::open_in(folder).await;
    assert!(!has(&console, "run_command") && !has(&console, "web_fetch"), "it was not stored");
    assert!(!console.app.settings.get().has(Extension::Alerts), "the control");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_cannot_give_itself_commands() {
    let console = Console::open().await;
    for extension in ["commands", "web"] {
        let result = console.call("extensions.enable", json!({"extension": extension})).await;
        assert_eq!(result.output, format!("Only a user can enable `{extension}`, on the settings page."));
    }
    assert!(!has(&console, "run_command"));
    console.answer("extensions.disable", json!({"extension": "messages"})).await;
    until(async || !has(&console, "message")).await;
    console.answer("extensions.enable", json!({"extension": "messages"})).await;
    until(async || has(&console, "message")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_waits_for_the_user() {
    let model = ScriptedModel::new([
        Reply::call("run_command", json!({"command": "echo it ran > made.txt"})),
        Reply::text("Done."),
    ]);
    let console = Console::with_options(&["--exec"], model).await;
    let browser = Browser::new(&console);
    let asked = browser.say("one", "Run it").await;
    let pending = card(&asked).to_owned();
    assert!(pending.contains(r#"data-state="pending""#) && pending.contains("echo it ran &gt; made.txt"), "{pending}");
    assert!(!console.path("data/workspace/made.txt").exists());
    browser.decide("one", json!({"token": token(&pending), "decision": "run"})).await;
    assert_eq!(std::fs::read_to_string(console.path("data/workspace/made.txt")).expect("a file"), "it ran\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_policy_of_the_command_line_applies() {
    let write = || json!({"path": "new.md", "content": "x"});
    let ask = async |options: &[&str]| {
        let console = Console::with_options(options, OfflineModel).await;
        let result = console.app.dispatcher().call(ToolCall::new("write_file", write())).await;
        let read = console.app.dispatcher().call(ToolCall::new("list_files", json!({}))).await;
        let page = Browser::new(&console).page("/chat/one").await + &Browser::new(&console).page("/settings").await;
        (kind(&result), console.path("data/workspace/new.md").exists(), kind(&read), page)
    };
    let (written, exists, read, page) = ask(&[]).await;
    assert_eq!((written, exists, read), (Some(ErrorKind::Pending), false, None));
    assert!(page.contains("Whatever changes something asks you first") && !page.contains("Dry run"), "{page}");
    let (written, exists, read, page) = ask(&["--policy", "yolo"]).await;
    assert_eq!((written, exists, read), (None, true, None));
    assert!(page.contains("Every call runs without asking you") && page.contains("--policy yolo"), "{page}");
    let (written, exists, read, page) = ask(&["--policy", "confirm-all"]).await;
    assert_eq!((written, exists, read), (Some(ErrorKind::Pending), false, Some(ErrorKind::Pending)));
    assert!(page.contains("Every call asks you first"), "{page}");
    let (written, exists, read, page) = ask(&["--dry-run"]).await;
    assert_eq!((written, exists, read), (None, false, None));
    assert!(page.contains("Dry run: calls are described, and none runs."), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_shown_in_the_conversation() {
    let model = ScriptedModel::new([
        Reply::call("message", json!({"content": "The disk is **full**."})),
        Reply::text("I have told you."),
    ]);
    let console = Console::with_model(model).await;
    let browser = Browser::new(&console);
    let notes = browser.say("one", "Warn me").await;
    for shown in [card(&notes).to_owned(), browser.page("/chat/one").await] {
        assert!(shown.contains("The disk is <strong>full</strong>."), "{shown}");
    }
    let result = console.call("message", json!({"content": "x", "channel": "telegram"})).await;
    assert!(!result.success, "{}", result.output);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sub_agent_reads_and_reports_but_cannot_message_or_change() {
    let model = ScriptedModel::from_fn(|request| match request.messages {
        [Message::User { text }] if text == "Look" => Reply::call("list_files", json!({}))
            .and_call("message", json!({"content": "hello"}))
            .and_call("write_file", json!({"path": "made.txt", "content": "x"})),
        [Message::User { text }, .., Message::Tools { results }] if text == "Look" => {
            Reply::text(results.iter().map(|one| one.result.output.clone()).collect::<Vec<_>>().join(" | "))
        }
        [_] => Reply::call("spawn", json!({"task": "Look"})),
        _ => Reply::text("It has looked."),
    });
    let console = Console::with_model(model).await;
    let notes = Browser::new(&console).say("one", "Delegate").await;
    let spawned = card(&notes);
    assert!(spawned.contains("README.md") && spawned.contains("A sub-agent cannot message the user"), "{spawned}");
    assert!(spawned.contains("a sub-agent cannot wait for it"), "{spawned}");
    assert!(!console.path("data/workspace/made.txt").exists());
}
