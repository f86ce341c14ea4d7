//! The loop against a simulation of each provider, with and without streaming. However a run ends, the conversation can
//! continue: the server rejects a history that its provider would reject, and the providers' own packages validate
//! every request that was sent.

mod calls;
mod models;

use std::time::Duration;

use serde_json::json;
use tool_agent::{
    Agent, AgentBuilder, Conversation, Message, ModelOptions, ReasoningEffort, RetryPolicy, RetryingModel, RunOutcome,
};

use crate::providers::{Way, tools};
use crate::server::{Called, Received, Reply, Server, Wire};

/// Each scenario is a test, and the providers' packages validate the requests of all of them.
macro_rules! scenarios {
    ($($theme:ident::$name:ident),* $(,)?) => {
        $(#[tokio::test]
        async fn $name() {
            for way in Way::all() {
                $theme::$name(Scene::new(way).await).await;
            }
        })*

        /// Returns the requests of all scenarios, each with its name.
        pub async fn sent() -> Vec<(String, Received)> {
            let mut sent = Vec::new();
            for way in Way::all() {
                $(for received in $theme::$name(Scene::new(way).await).await {
                    sent.push((format!("{} ({way:?})", stringify!($name)), received));
                })*
            }
            sent
        }
    };
}

scenarios![
    models::a_response_without_calls,
    models::concurrent_calls,
    models::a_model_with_reasoning,
    models::malformed_arguments,
    models::unknown_tools,
    models::a_tool_that_fails,
    models::rate_limited_requests,
    models::a_provider_that_keeps_failing,
    models::a_stream_that_is_cut_off_before_its_first_word,
    models::a_response_that_is_cut_off,
    models::a_response_that_never_comes,
    models::a_response_that_is_cancelled,
    models::a_model_that_never_stops,
    models::a_turn_with_too_many_calls,
    models::a_plan_between_two_builds,
    models::another_provider_continues,
    calls::a_pending_call_that_is_approved,
    calls::a_pending_call_that_is_refused,
    calls::a_pending_call_that_is_withdrawn,
    calls::a_pending_call_that_is_aborted,
    calls::a_call_that_is_refused,
    calls::a_call_that_is_aborted,
    calls::a_call_that_is_cancelled,
    calls::a_call_that_is_dropped,
    calls::a_process_that_crashed,
];

struct Scene {
    way: Way,
    server: Server,
    agent: Agent,
    conversation: Conversation,
}

impl Scene {
    async fn new(way: Way) -> Self {
        Self::with(way, |agent| agent).await
    }

    async fn with(way: Way, set: impl FnOnce(AgentBuilder) -> AgentBuilder) -> Self {
        let server = Server::start([]).await;
        let retry = RetryPolicy::default().times(2).first_wait(Duration::from_millis(1));
        let model = RetryingModel::new(way.model(&server)).retry(retry);
        // Some requests have options, and some do not.
        let configured = ModelOptions::default().max_tokens(1000).temperature(0.5).effort(ReasoningEffort::Low);
        let options = if way.is_streamed { ModelOptions::default() } else { configured };
        let agent = Agent::builder(model, tools()).system("You are good with numbers.").options(options);
        let agent = set(agent).build();
        let conversation = agent.conversation("chat-7");
        Self { way, server, agent, conversation }
    }

    /// Returns a call as this provider's model writes it: with the encoded name, and with an id or without.
    fn call(&self, number: usize, tool: &str, arguments: impl ToString) -> Called {
        match self.way.wire {
            Wire::Gemini => Called::new("", tool, arguments),
            _ => Called::new(&format!("call_{number}"), &tool.replace('.', "__"), arguments),
        }
    }

    fn add(&self, a: i64, b: i64) -> Reply {
        Reply::calls([self.call(1, "math.add", json!({"a": a, "b": b}))])
    }

    async fn say(&self, text: &str, script: impl IntoIterator<Item = Reply>) -> RunOutcome {
        self.server.follow(script);
        self.conversation.say(text).await
    }

    /// Returns the outputs of all tools so far.
    async fn outputs(&self) -> Vec<String> {
        let history = self.conversation.history().await.expect("it is in memory");
        let results = history.into_iter().flat_map(|message| match message {
            Message::Tools { results } => results,
            _ => Vec::new(),
        });
        results.map(|result| result.result.output).collect()
    }

    /// Continues the conversation with another call, and returns the requests.
    async fn goes_on(self) -> Vec<Received> {
        let outcome = self.say("And now?", [self.add(40, 2), Reply::text("It is 42.")]).await;
        assert_eq!(outcome.answer(), Some("It is 42."), "{:?}: {:?}", self.way, outcome.ending);
        assert_eq!(self.server.left(), 0, "{:?}", self.way);
        drop(self.agent);
        self.server.received()
    }
}
