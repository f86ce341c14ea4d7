//! A model that is none.

use tool_agent::{Agent, Ending, Mode, Offline};

use crate::support::tools;

#[tokio::test]
async fn it_says_what_it_is_and_calls_what_fits() {
    let agent = Agent::builder(Offline, tools().0).build();
    for (text, expected, calls) in [
        ("work 3 steps", "`work.steps` answers:\n\n3", 1),
        ("work.fail how=itself", "`work.fail` has failed:\n\nfailed by itself", 1),
        ("work some steps", "I lack:\n- `steps=` (integer)", 0),
        ("zzz", "None fits", 0),
    ] {
        let outcome = agent.conversation(text).say(text).await;
        assert_eq!((outcome.ending, outcome.calls), (Ending::Answered, calls), "{}", outcome.text);
        assert!(outcome.text.contains(expected), "{}", outcome.text);
        assert!(outcome.text.to_lowercase().contains("no language model"), "{}", outcome.text);
    }
}

#[tokio::test]
async fn without_tools_it_does_nothing() {
    let agent = Agent::builder(Offline, tools().0).mode(Mode::Plan).build();
    let outcome = agent.conversation("c").say("work 3 steps").await;
    assert!(outcome.calls == 0 && outcome.text.contains("no tools now"), "{}", outcome.text);
}
