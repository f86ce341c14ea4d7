//! What is selected, and how it is called.

use super::*;
use crate::{NameCase, ToolCall};

#[test]
fn each_word_selects() {
    for (json, expected) in [
        ("{}", "clock.now mail.newest mail.purge_all mail.send"),
        (r#"{"names": ["clock.now", "mail.s*"]}"#, "clock.now mail.send"),
        (r#"{"names": []}"#, ""),
        (r#"{"tags": ["mail", "write"]}"#, "mail.purge_all mail.send"),
        (r#"{"category": "talk"}"#, "mail.newest mail.send"),
        (r#"{"name_pattern": "mail"}"#, "mail.newest mail.purge_all mail.send"),
        (r#"{"name_pattern": "now|mail\\.n"}"#, "mail.newest"),
        (r#"{"name_pattern": ".*e$"}"#, ""),
        (r#"{"name_glob": "*.n??"}"#, "clock.now"),
        (r#"{"read_only": true}"#, "clock.now mail.newest"),
        (r#"{"read_only": false, "sensitive": false}"#, "mail.purge_all"),
        (r#"{"destructive": true, "sequential": true}"#, "mail.purge_all"),
        (r#"{"idempotent": true}"#, "clock.now"),
        (r#"{"tags": ["mail"], "category": "talk", "name_pattern": "mail\\.s"}"#, "mail.send"),
        (r#"{"hide": ["mail.*"]}"#, "clock.now"),
        (
            r#"{"any_of": [{"read_only": true}, {"names": ["mail.send"]}], "hide": ["clock.now"]}"#,
            "mail.newest mail.send",
        ),
        (r#"{"any_of": []}"#, ""),
    ] {
        assert_eq!(selected(from_json(json)), expected, "{json}");
    }
    assert_eq!(selected(Selection::new().predicate(|name, tool| name.len() > 9 && tool.read_only)), "mail.newest");
    assert_eq!(selected(Selection::new().predicate(|_, _| panic!("no"))), "");
}

#[test]
fn a_selection_gives_names() {
    let camel = r#"{"tags": ["mail"], "case": "camelCase", "prefix": "my_", "rename": {"mail.newest": "inbox"}}"#;
    assert_eq!(selected(from_json(camel)), "inbox my_mailPurgeAll my_mailSend");
    for (case, expected) in [
        (NameCase::Camel, "clockNow mailNewest mailPurgeAll mailSend"),
        (NameCase::Pascal, "ClockNow MailNewest MailPurgeAll MailSend"),
        (NameCase::Snake, "clock_now mail_newest mail_purge_all mail_send"),
        (NameCase::Kebab, "clock-now mail-newest mail-purge-all mail-send"),
    ] {
        assert_eq!(selected(Selection::new().case(case)), expected);
    }
    assert_eq!(NameCase::Pascal.apply("ärger.über"), "ÄrgerÜber");
}

#[test]
fn everything_wrong_with_a_selection_is_said_at_once() {
    let error = refusal(
        Selection::new()
            .names(["mail.sent", "clock.now"])
            .hide(["mail.purge_al"])
            .rename("clock.nwo", "x")
            .name_pattern("(")
            .any_of([Selection::new().prefix("p"), Selection::new().names(["weather"])]),
    );
    let message = error.to_string();
    assert_eq!(error.problems().len(), 6, "{message}");
    for part in [
        "`mail.sent`: there is no such tool; is it `mail.send`?",
        "`mail.purge_al`: there is no such tool",
        "`clock.nwo`: there is no such tool",
        "`weather`: there is no such tool; there is none like it",
        "`name_pattern` \"(\" is no regular expression",
        "a selection under `any_of` gives names",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(
        serde_json::from_str::<Selection>(r#"{"tag": []}"#).unwrap_err().to_string().contains("unknown field `tag`")
    );
    // What closes our own bracket is no way around it.
    assert_eq!(refusal(Selection::new().name_pattern("x)|(?:")).problems().len(), 1);
}

#[test]
fn names_that_clash_or_are_none_are_refused() {
    let error = refusal(Selection::new().rename("mail.send", "clock.now")).to_string();
    assert!(error.contains("`mail.send`: it would be called `clock.now`, and so would `clock.now`"), "{error}");
    assert_eq!(refusal(Selection::new().prefix("7")).problems().len(), 4);
    // A name that somebody has lost is free.
    let swapped = Selection::new().rename("mail.send", "clock.now").rename("clock.now", "mail.send");
    assert_eq!(names(&tools().select(swapped).unwrap()), "clock.now mail.newest mail.purge_all mail.send");
}

#[tokio::test]
async fn a_pattern_cannot_hang() {
    let pattern = "(a*)*(a*)*(a|aa)+(a?){50}b";
    let tools = Dispatcher::builder().tool(tool(&"a".repeat(128))).build().unwrap();
    assert_eq!(names(&tools.select(Selection::new().name_pattern(pattern)).unwrap()), "");
    assert_eq!(names(&tools.select(Selection::new().name_glob("*a".repeat(60) + "b")).unwrap()), "");
}

#[tokio::test]
async fn a_selection_follows_its_tools() {
    let tools = tools();
    let mail = tools.select(Selection::new().tags(["mail"]).case(NameCase::Snake)).unwrap();
    let reading = mail.select(Selection::new().read_only(true).prefix("x_")).unwrap();
    tools.registry().register(tool("mail.count").tags(["mail"]).read_only()).unwrap();
    assert_eq!(names(&mail), "mail_count mail_newest mail_purge_all mail_send");
    assert_eq!(names(&reading), "x_mail_count x_mail_newest");
    assert_eq!(reading.call(ToolCall::from_text("x_mail_count", "{}")).await.output, "mail.count");
    // Two that would be called alike: the one that was first by its own name is there.
    tools.registry().register(tool("mail_count").tags(["mail"])).unwrap();
    assert_eq!(mail.call(ToolCall::from_text("mail_count", "{}")).await.output, "mail.count");
    tools.registry().remove("mail.count");
    assert_eq!(mail.call(ToolCall::from_text("mail_count", "{}")).await.output, "mail_count");
}
