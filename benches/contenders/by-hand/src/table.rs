//! A handwritten table of functions that return boxed futures.

use std::collections::HashMap;
use std::pin::Pin;

use contest::Contender;
use contest::work::{hits, pause};

use crate::arguments::{Add, Echo, Filler, Outcome, Search, read, text};

type BoxedOutcome = Pin<Box<dyn Future<Output = Outcome> + Send>>;

pub struct TableByHand(HashMap<String, fn(&str) -> BoxedOutcome>);

fn add(arguments: &str) -> BoxedOutcome {
    let arguments = read::<Add>(arguments);
    Box::pin(async move {
        let Add { a, b } = arguments?;
        text(&(a + b))
    })
}

fn search(arguments: &str) -> BoxedOutcome {
    let arguments = read::<Search>(arguments);
    Box::pin(async move {
        let Search { query, limit, tags, filter } = arguments?;
        text(&hits(&query, limit, &tags, filter.len()))
    })
}

fn order(arguments: &str) -> BoxedOutcome {
    let arguments = read::<Echo>(arguments);
    Box::pin(async move { text(&arguments?.order) })
}

fn pausing(arguments: &str) -> BoxedOutcome {
    let arguments = read::<Add>(arguments);
    Box::pin(async move {
        let Add { a, b } = arguments?;
        text(&pause(a, b).await)
    })
}

fn filler(arguments: &str) -> BoxedOutcome {
    let arguments = read::<Filler>(arguments);
    Box::pin(async move { text(&arguments?.a) })
}

impl Contender for TableByHand {
    async fn start(fillers: usize) -> Self {
        let tools =
            [("add", add as fn(&str) -> BoxedOutcome), ("search", search), ("order", order), ("pause", pausing)];
        let mut table: HashMap<_, _> = tools.into_iter().map(|(name, tool)| (name.to_owned(), tool)).collect();
        table.extend((0..fillers).map(|number| (format!("filler_{number}"), filler as fn(&str) -> BoxedOutcome)));
        Self(table)
    }

    async fn call(&self, tool: &str, arguments: &str) -> String {
        self.0[tool](arguments).await.expect("succeeds")
    }

    fn list(&self) -> Option<String> {
        None
    }
}
