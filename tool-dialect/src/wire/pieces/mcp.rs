//! Requests of the Model Context Protocol come whole; a stream of them is a list.

use super::super::mcp;
use super::super::raw::Raw;
use super::{Pieces, Whole};

#[derive(Default)]
pub(super) struct Requests(Vec<String>);

impl Pieces for Requests {
    fn push(&mut self, event: Raw<'_>) -> String {
        self.0.push(event.json().to_owned());
        String::new()
    }

    fn whole(&self) -> Whole {
        let calls = self.0.iter().filter_map(|request| Raw::read(request).ok()).filter_map(mcp::calls);
        Whole { calls: calls.flatten().collect(), turn: Vec::new(), is_complete: true }
    }
}
