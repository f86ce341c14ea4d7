//! MCP requests are never split; a stream is a list of them.

use super::super::mcp;
use super::super::raw::RawJson;
use super::{PartialResponse, ProviderStream};

#[derive(Default)]
pub(super) struct McpStream(Vec<String>);

impl ProviderStream for McpStream {
    fn push(&mut self, event: RawJson<'_>) -> String {
        self.0.push(event.json().to_owned());
        String::new()
    }

    fn response(&self) -> PartialResponse {
        let calls = self.0.iter().filter_map(|request| RawJson::read(request).ok()).filter_map(mcp::calls);
        PartialResponse { calls: calls.flatten().collect(), turn: Vec::new(), is_complete: true }
    }
}
