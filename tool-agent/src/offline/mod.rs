//! A model that is none, for demonstrations without a network.

mod fill;
mod words;

use std::fmt::Write;

use tool_runtime::Dispatcher;
use tool_runtime::search::SearchHit;

use self::fill::fill;
use self::words::words;
use crate::{Answering, CallResult, Message, Model, Reply, Request};

/// How many tools it names where it cannot decide.
const NAMED: usize = 5;

const WHO: &str = "I am no language model, only a stand-in that works without one: I look for the tool whose words fit \
    yours best, and take its arguments from your text, from quotes and from `name=value`.";

/// Stands in for a model where there is none: it finds tools by their words and fills in their arguments from the text.
/// It says of itself that it is no language model.
///
/// ```standalone_crate
/// use tool_agent::{Agent, Offline};
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
/// let agent = Agent::builder(Offline, Dispatcher::builder().build()?).build();
/// let outcome = agent.conversation("demo").say("What temperature is 20 Celsius in Fahrenheit?").await;
/// assert!(outcome.text.contains("68"), "{}", outcome.text);
/// assert!(outcome.text.contains("no language model"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Offline;

impl Model for Offline {
    fn name(&self) -> &str {
        "offline"
    }

    fn answer<'a>(&'a self, request: Request<'a>) -> Answering<'a> {
        let reply = match request.messages.last() {
            Some(Message::User { text }) => asked(text, request.tools),
            Some(Message::Tools { results }) => called(results),
            Some(Message::Assistant(_)) | None => said(WHO),
        };
        reply.now()
    }
}

/// A text in pieces, as a model writes it.
fn said(text: &str) -> Reply {
    text.split_inclusive(' ').fold(Reply::default(), |reply, piece| reply.and_text(piece))
}

fn asked(text: &str, tools: Option<&Dispatcher>) -> Reply {
    let Some(tools) = tools else {
        return said(&format!("{WHO} I have no tools now, and can do nothing without them."));
    };
    let found = find(text, tools);
    let Some(best) = found.first() else {
        let names = tools.definitions();
        let names = names.iter().take(NAMED).map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        return said(&format!("{WHO} None fits. Some that there are: {names}."));
    };
    let filled = fill(text, &best.name, &best.definition);
    if filled.missing.is_empty() {
        return said(&format!("(I am no language model.) I call `{}`.", best.name))
            .and_call(&*best.name, filled.arguments.into());
    }
    let mut answer = format!("{WHO}\n\nThe best is `{}`: {}\nI lack:", best.name, best.definition.description);
    for name in &filled.missing {
        let argument = &best.definition.arguments[name];
        let description = argument.description.as_deref().unwrap_or("no description");
        // Writing to a string cannot fail.
        let _ = write!(answer, "\n- `{name}=` ({}): {description}", argument.type_name);
    }
    let others: Vec<String> = found[1..].iter().map(|found| format!("`{}`", found.name)).collect();
    if !others.is_empty() {
        let _ = write!(answer, "\n\nOthers that fit: {}.", others.join(", "));
    }
    said(&answer)
}

/// The tools that fit: one that is named, or else those whose words are in the text.
fn find(text: &str, tools: &Dispatcher) -> Vec<SearchHit> {
    let words = words(text);
    let query: Vec<&str> = words.iter().map(|word| word.searched()).collect();
    let mut found = tools.search(&query.join(" "), NAMED);
    let named = found.iter().position(|found| words.iter().any(|word| word.is_plain(&found.name)));
    if let Some(named) = named {
        found.swap(0, named);
    }
    found
}

fn called(results: &[CallResult]) -> Reply {
    let mut answer = String::from("(I am no language model.)");
    for CallResult { name, result, .. } in results {
        let how = if result.success { "answers" } else { "has failed" };
        let _ = write!(answer, " `{name}` {how}:\n\n{}\n", result.output);
    }
    said(answer.trim_end())
}
