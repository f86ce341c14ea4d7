//! A handwritten `match`.

use contest::Contender;
use contest::work::{hits, pause};

use crate::arguments::{Add, Echo, Outcome, Search, read, text};

/// Without fillers there is nothing to deserialize.
#[allow(unused, unreachable_code)]
mod fillers {
    use crate::arguments::{Filler, Outcome, read, text};

    include!(concat!(env!("OUT_DIR"), "/fillers.rs"));
}

pub struct MatchByHand;

/// The measured tools come last, after all fillers.
async fn dispatch(tool: &str, arguments: &str) -> Outcome {
    if let Some(outcome) = fillers::more(tool, arguments) {
        return outcome;
    }
    match tool {
        "add" => {
            let Add { a, b } = read(arguments)?;
            text(&(a + b))
        }
        "search" => {
            let Search { query, limit, tags, filter } = read(arguments)?;
            text(&hits(&query, limit, &tags, filter.len()))
        }
        "order" => text(&read::<Echo>(arguments)?.order),
        "pause" => {
            let Add { a, b } = read(arguments)?;
            text(&pause(a, b).await)
        }
        other => Err(format!("no tool {other}")),
    }
}

impl Contender for MatchByHand {
    async fn start(fillers: usize) -> Self {
        assert!(fillers <= self::fillers::FILLERS, "build with FILLERS={fillers}");
        Self
    }

    async fn call(&self, tool: &str, arguments: &str) -> String {
        dispatch(tool, arguments).await.expect("succeeds")
    }

    fn list(&self) -> Option<String> {
        None
    }
}
