use serde_json::json;

use super::*;
use crate::{RuntimeTool, ToolCall};

fn tool(name: &str, description: &str) -> RuntimeTool {
    RuntimeTool::new(name, description, |(): ()| async {})
}

fn tools() -> Dispatcher {
    let schema = json!({"properties": {"recipient": {"type": "string", "description": "Whose address it is."}}});
    let send = RuntimeTool::from_schema("mail.send", "Send a message.", &schema, |_, _| async {});
    Dispatcher::builder()
        .tool(send.tags(["communication"]))
        .tool(tool("mail.list", "List the newest messages."))
        .tool(tool("github.createIssue", "Create an issue in a repository."))
        .tool(tool("disk.usage", "How much room is left. It does not send anything."))
        .service(ToolSearch)
        .build()
        .unwrap()
}

fn found(words: &str) -> Vec<String> {
    tools().search(words, 3).iter().map(|found| found.name.to_string()).collect()
}

#[test]
fn finds_tools_by_every_part_of_their_definition() {
    assert_eq!(found("sending")[0], "mail.send", "a name weighs more than a description");
    assert_eq!(found("create issues"), ["github.createIssue"]);
    assert_eq!(found("communication"), ["mail.send"]);
    assert_eq!(found("RECIPIENT"), ["mail.send"]);
    assert_eq!(found("addresses"), ["mail.send"]);
    assert_eq!(found("repo"), ["github.createIssue"], "a prefix matches");
    assert_eq!(found("mail messages")[..2], ["mail.list", "mail.send"]);
    for nothing in ["", "the of", "weather", "…", "ra"] {
        assert!(found(nothing).is_empty(), "{nothing}");
    }
}

#[test]
fn returns_the_best_hits_first_and_at_most_the_limit() {
    let tools = tools();
    assert!(tools.search("mail", 0).is_empty());
    let all = tools.search("mail send message list", usize::MAX);
    assert!(all.is_sorted_by(|a, b| a.score >= b.score) && all.len() >= 3);
    let names = |found: &[SearchHit]| found.iter().map(|found| found.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&tools.search("mail send message list", 2)), names(&all[..2]));
}

#[tokio::test]
async fn search_tools_finds_tools_but_not_itself() {
    let tools = tools();
    let call = |query: &str| ToolCall::new("search_tools", json!({"query": query, "limit": 1}));
    let result = tools.call(call("find tools to send mail")).await;
    assert_eq!(result.output, "mail.send(recipient?: string): Send a message.\n");
    assert_eq!(result.metadata.get("tools"), Some(&json!(["mail.send"])));
    assert_eq!(tools.call(call("weather")).await.output, "No matching tool. Try other words.");
}

#[test]
fn keeps_to_its_budget_but_always_sends_pinned_tools() {
    let tools = tools();
    let sent = |shortlist: &Shortlist| {
        shortlist.definitions().iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>().join(" ")
    };
    let mut shortlist = Shortlist::new(&tools, ["disk.*"]).unwrap();
    let least = shortlist.tokens();
    shortlist.suggest("send mail", 5);
    assert_eq!(sent(&shortlist), "disk.usage mail.list mail.send search_tools");
    let mail = tool_model::estimate_tokens("mail.send", &tools.definition("mail.send").unwrap());
    let shortlist = shortlist.budget(least + mail);
    assert_eq!((sent(&shortlist).as_str(), shortlist.tokens()), ("disk.usage mail.send search_tools", least + mail));
    assert_eq!(sent(&shortlist.clone().budget(0)), "disk.usage search_tools");
    // A removed tool is not sent.
    tools.registry().remove("mail.send");
    assert_eq!(sent(&shortlist), "disk.usage mail.list search_tools");
}

#[test]
fn keeps_called_tools_longer_than_hits() {
    let tools = tools();
    let names = |shortlist: &Shortlist| {
        shortlist.definitions().iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>().join(" ")
    };
    let mut shortlist = Shortlist::new(&tools, [""; 0]).unwrap();
    let budget =
        shortlist.tokens() + tool_model::estimate_tokens("disk.usage", &tools.definition("disk.usage").unwrap());
    shortlist.add_called("disk.usage");
    shortlist.suggest("send mail", 5);
    assert_eq!(names(&shortlist), "disk.usage mail.list mail.send search_tools");
    assert_eq!(names(&shortlist.clone().budget(budget)), "disk.usage search_tools");
    let mail = tools.select(crate::Selection::new().names(["mail.*"])).unwrap();
    let mut shortlist = shortlist.within(&mail);
    shortlist.suggest("disk usage", 5);
    assert_eq!(names(&shortlist), "mail.list mail.send", "only tools of the selection are sent");
}

#[test]
fn recognizes_the_search_tool_by_its_offered_name() {
    let tools = tools();
    let renamed = tools.select(crate::Selection::new().prefix("our.")).unwrap();
    for (tools, name) in [(&tools, "search_tools"), (&renamed, "our.search_tools")] {
        let shortlist = Shortlist::new(tools, [""; 0]).unwrap();
        assert!(shortlist.is_search(name) && !shortlist.is_search("mail.send") && !shortlist.is_search("search"));
    }
}

#[test]
fn unknown_names_do_not_evict_hits() {
    let tools = tools();
    let mut shortlist = Shortlist::new(&tools, [""; 0]).unwrap();
    shortlist.add("mail.send");
    (0..1_000).for_each(|number| shortlist.add(format!("made.up{number}")));
    assert_eq!(shortlist.definitions().len(), 2, "the search tool is always sent");
    let offer = shortlist.offer(crate::dialect::Dialect::OpenAiChat).unwrap();
    assert_eq!(serde_json::to_value(offer.definitions()).unwrap()[0]["function"]["name"], "mail__send");
}
