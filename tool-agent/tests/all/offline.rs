//! A model that is none.

use tool_agent::{Agent, Mode, OfflineModel, RunEnding};
use tool_builtins::files::Files;
use tool_builtins::web::Web;
use tool_runtime::Selection;

use crate::support::{Gauge, builder, tools};

#[tokio::test]
async fn it_says_what_it_is_and_calls_what_fits() {
    let agent = Agent::builder(OfflineModel, tools().0).build();
    for (text, expected, calls) in [
        ("work 3 steps", "`work.steps` answers:\n\n3", 1),
        ("work.fail how=itself", "`work.fail` has failed:\n\nfailed by itself", 1),
        ("work some steps", "I lack:\n- `steps=` (integer)", 0),
        ("zzz", "None fits", 0),
    ] {
        let outcome = agent.conversation(text).say(text).await;
        assert_eq!((outcome.ending, outcome.calls), (RunEnding::Answered, calls), "{}", outcome.text);
        assert!(outcome.text.contains(expected), "{}", outcome.text);
        assert!(outcome.text.to_lowercase().contains("not a language model"), "{}", outcome.text);
    }
}

#[tokio::test]
async fn without_tools_it_does_nothing() {
    let agent = Agent::builder(OfflineModel, tools().0).mode(Mode::Plan).build();
    let outcome = agent.conversation("c").say("work 3 steps").await;
    assert!(outcome.calls == 0 && outcome.text.contains("no tools now"), "{}", outcome.text);
}

/// The built-in tools, as the chat offers them where nobody is asked for a search of the web.
#[tokio::test]
async fn it_finds_its_way_through_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "TODO: buy milk\n").unwrap();
    let (files, web) = (Files::new(folder.path()).unwrap(), Web::new());
    let of_use = Selection::new().names(["*_file", "*_files", "apply_patch", "web_*"]);
    let of_use = of_use.hide(files.unusable()).hide(web.unusable());
    let tools = builder(&Gauge::default()).service(files).service(web).build().unwrap().select(of_use).unwrap();
    let agent = Agent::builder(OfflineModel, tools).build();
    for (text, expected) in [
        ("search TODO", "`search_files` answers:\n\nnotes.txt"),
        ("search \"buy milk\"", "`search_files` answers:\n\nnotes.txt"),
        ("list files", "`list_files` answers:\n\nnotes.txt"),
        ("list files \"*.rs\"", "`list_files` answers:\n\n"),
        ("read notes.txt", "TODO: buy milk"),
        ("move file \"a\" \"b\"", "I lack:\n- `from=`"),
    ] {
        let outcome = agent.conversation(text).say(text).await;
        assert!(outcome.text.contains(expected), "{text}: {}", outcome.text);
    }
}
