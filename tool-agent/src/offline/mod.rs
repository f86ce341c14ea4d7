//! An offline substitute for a model, for demonstrations.

mod fill;
mod words;

use std::fmt::Write;

use tool_runtime::Dispatcher;
use tool_runtime::search::SearchHit;

use self::fill::fill;
use self::words::words;
use crate::{CallResult, Message, Model, ModelRequest, Reply, ResponseStream};

/// The number of tools that are listed if none can be chosen.
const MAX_LISTED: usize = 5;

const INTRODUCTION: &str = "I am not a language model but an offline demo: I pick the tool whose description matches your \
    words best, and take its arguments from your text, from quotes and from `name=value`.";

/// An offline substitute for a model: it finds a tool by keywords and fills in the arguments from the text. Its replies
/// say that it is not a language model.
///
/// ```standalone_crate
/// use tool_agent::{Agent, OfflineModel};
/// use tool_runtime::{Dispatcher, tool};
///
/// /// Convert a temperature from degrees Celsius to Fahrenheit.
/// #[tool(name = "temperature.to_fahrenheit")]
/// fn to_fahrenheit(celsius: f64) -> f64 {
///     celsius * 9.0 / 5.0 + 32.0
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder(OfflineModel, Dispatcher::builder().build()?).build();
/// let outcome = agent.conversation("demo").say("What temperature is 20 Celsius in Fahrenheit?").await;
/// assert!(outcome.text.contains("68"), "{}", outcome.text);
/// assert!(outcome.text.contains("not a language model"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct OfflineModel;

impl Model for OfflineModel {
    fn name(&self) -> &str {
        "offline"
    }

    fn respond<'a>(&'a self, request: ModelRequest<'a>) -> ResponseStream<'a> {
        let reply = match request.messages.last() {
            Some(Message::User { text }) => respond_to_user(text, request.tools),
            Some(Message::Tools { results }) => respond_to_results(results),
            Some(Message::Assistant(_)) | None => text_reply(INTRODUCTION),
        };
        reply.into_stream()
    }
}

/// Creates a text reply in pieces, like a streaming model.
fn text_reply(text: &str) -> Reply {
    text.split_inclusive(' ').fold(Reply::default(), |reply, piece| reply.and_text(piece))
}

fn respond_to_user(text: &str, tools: Option<&Dispatcher>) -> Reply {
    let Some(tools) = tools else {
        return text_reply(&format!("{INTRODUCTION} I have no tools now, so I cannot do anything."));
    };
    let found = find(text, tools);
    let Some(best) = found.first() else {
        let names = tools.definitions();
        let names = names.iter().take(MAX_LISTED).map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        return text_reply(&format!("{INTRODUCTION} No tool matches. Some of the available tools: {names}."));
    };
    let filled = fill(text, &best.name, &best.definition);
    if filled.missing.is_empty() {
        return text_reply(&format!("(I am not a language model.) I call `{}`.", best.name))
            .and_call(&*best.name, filled.arguments.into());
    }
    let mut answer = format!(
        "{INTRODUCTION}\n\nThe best match is `{}`: {}\nMissing arguments:",
        best.name, best.definition.description
    );
    for name in &filled.missing {
        let argument = &best.definition.arguments[name];
        let description = argument.description.as_deref().unwrap_or("no description");
        // Writing to a string cannot fail.
        let _ = write!(answer, "\n- `{name}=` ({}): {description}", argument.type_name);
    }
    let others: Vec<String> = found[1..].iter().map(|found| format!("`{}`", found.name)).collect();
    if !others.is_empty() {
        let _ = write!(answer, "\n\nOther matches: {}.", others.join(", "));
    }
    text_reply(&answer)
}

/// Returns the matching tools. A tool that is named in the text comes first.
fn find(text: &str, tools: &Dispatcher) -> Vec<SearchHit> {
    let words = words(text);
    let query: Vec<&str> = words.iter().map(|word| word.searched()).collect();
    let mut found = tools.search(&query.join(" "), MAX_LISTED);
    let named = found.iter().position(|found| words.iter().any(|word| word.is_plain(&found.name)));
    if let Some(named) = named {
        found.swap(0, named);
    }
    found
}

fn respond_to_results(results: &[CallResult]) -> Reply {
    let mut answer = String::from("(I am not a language model.)");
    for CallResult { name, result, .. } in results {
        let how = if result.success { "returned" } else { "failed" };
        let _ = write!(answer, " `{name}` {how}:\n\n{}\n", result.output);
    }
    text_reply(answer.trim_end())
}
