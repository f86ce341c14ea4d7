//! The offline substitute for a model.

use tool_agent::{Agent, Mode, OfflineModel, RunEnding};
use tool_builtins::files::Files;
use tool_builtins::web::Web;
use tool_runtime::Selection;

use crate::support::{Gauge, builder, tools};

#[tokio::test]
async fn introduces_itself_and_calls_the_best_match() {
    let agent = Agent::builder(OfflineModel, tools().0).build();
    for (text, expected, calls) in [
        ("work 3 steps", "`work.steps` returned:\n\n3", 1),
        ("work.fail how=itself", "`work.fail` failed:\n\nfailed by itself", 1),
        ("work some steps", "Missing arguments:\n- `steps=` (integer)", 0),
        ("zzz", "No tool matches", 0),
    ] {
        let outcome = agent.conversation(text).say(text).await;
        assert_eq!((outcome.ending, outcome.calls), (RunEnding::Answered, calls), "{}", outcome.text);
        assert!(outcome.text.contains(expected), "{}", outcome.text);
        assert!(outcome.text.to_lowercase().contains("not a language model"), "{}", outcome.text);
    }
}

#[tokio::test]
async fn does_nothing_without_tools() {
    let agent = Agent::builder(OfflineModel, tools().0).mode(Mode::Plan).build();
    let outcome = agent.conversation("c").say("work 3 steps").await;
    assert!(outcome.calls == 0 && outcome.text.contains("no tools now"), "{}", outcome.text);
}

/// The built-in tools, as the chat offers them without a web search provider.
#[tokio::test]
async fn uses_the_built_in_file_tools() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "TODO: buy milk\n").unwrap();
    let (files, web) = (Files::new(folder.path()).unwrap(), Web::new());
    let of_use = Selection::new().names(["*_file", "*_files", "apply_patch", "web_*"]);
    let of_use = of_use.hide(files.unusable()).hide(web.unusable());
    let tools = builder(&Gauge::default()).service(files).service(web).build().unwrap().select(of_use).unwrap();
    let agent = Agent::builder(OfflineModel, tools).build();
    for (text, expected) in [
        ("search TODO", "`search_files` returned:\n\nnotes.txt"),
        ("search \"buy milk\"", "`search_files` returned:\n\nnotes.txt"),
        ("list files", "`list_files` returned:\n\nnotes.txt"),
        ("list files \"*.rs\"", "`list_files` returned:\n\n"),
        ("read notes.txt", "TODO: buy milk"),
        ("move file \"a\" \"b\"", "Missing arguments:\n- `from=`"),
    ] {
        let outcome = agent.conversation(text).say(text).await;
        assert!(outcome.text.contains(expected), "{text}: {}", outcome.text);
    }
}
