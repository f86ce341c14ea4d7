//! Filters and new names.

use super::*;
use crate::{NameCase, ToolCall};

#[test]
fn each_criterion_filters() {
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
fn a_selection_renames_tools() {
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
    assert_eq!(NameCase::Camel.apply("http_api.list_users"), "httpApiListUsers");
    assert_eq!(NameCase::Snake.apply("HTTPApi.listUsers"), "http_api_list_users");
}

#[test]
fn reports_all_problems_of_a_selection_at_once() {
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
        "`name_pattern` \"(\" is not a valid regular expression: ",
        "a selection under `any_of` renames tools",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    for (key, near) in
        [("tag", "did you mean `tags`? "), ("supports_straming", "did you mean `supports_streaming`? "), ("x", "")]
    {
        let error = serde_json::from_str::<Selection>(&format!(r#"{{"{key}": []}}"#)).unwrap_err().to_string();
        let start = format!("unknown key `{key}` of a selection; {near}The keys are names, tags, category, ");
        assert!(error.starts_with(&start) && error.contains("read_only, sensitive, "), "{error}");
    }
    // A pattern cannot close the group that it is wrapped in.
    assert_eq!(refusal(Selection::new().name_pattern("x)|(?:")).problems().len(), 1);
}

#[test]
fn rejects_conflicting_and_invalid_names() {
    let error = refusal(Selection::new().rename("mail.send", "clock.now")).to_string();
    assert!(error.contains("`mail.send`: its new name `clock.now` is also the name of `clock.now`"), "{error}");
    assert_eq!(refusal(Selection::new().prefix("7")).problems().len(), 4);
    // A name that another tool gives up is free.
    let swapped = Selection::new().rename("mail.send", "clock.now").rename("clock.now", "mail.send");
    assert_eq!(names(&tools().select(swapped).unwrap()), "clock.now mail.newest mail.purge_all mail.send");
}

#[tokio::test]
async fn patterns_match_in_linear_time() {
    let pattern = "(a*)*(a*)*(a|aa)+(a?){50}b";
    let tools = Dispatcher::builder().tool(tool(&"a".repeat(128))).build().unwrap();
    assert_eq!(names(&tools.select(Selection::new().name_pattern(pattern)).unwrap()), "");
    assert_eq!(names(&tools.select(Selection::new().name_glob("*a".repeat(60) + "b")).unwrap()), "");
}

#[tokio::test]
async fn a_selection_follows_changes_of_its_tools() {
    let tools = tools();
    let mail = tools.select(Selection::new().tags(["mail"]).case(NameCase::Snake)).unwrap();
    let reading = mail.select(Selection::new().read_only(true).prefix("x_")).unwrap();
    tools.registry().register(tool("mail.count").tags(["mail"]).read_only()).unwrap();
    assert_eq!(names(&mail), "mail_count mail_newest mail_purge_all mail_send");
    assert_eq!(names(&reading), "x_mail_count x_mail_newest");
    assert_eq!(reading.call(ToolCall::from_text("x_mail_count", "{}")).await.output, "mail.count");
    // Of two tools with the same new name, the one whose own name sorts first is offered.
    tools.registry().register(tool("mail_count").tags(["mail"])).unwrap();
    assert_eq!(mail.call(ToolCall::from_text("mail_count", "{}")).await.output, "mail.count");
    tools.registry().remove("mail.count");
    assert_eq!(mail.call(ToolCall::from_text("mail_count", "{}")).await.output, "mail_count");
}
