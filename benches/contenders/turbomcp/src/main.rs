//! turbomcp: the handler of a server, called directly.

use std::collections::BTreeMap;

use contest::Contender;
use contest::work::{self, Hit, Order, hits};
use turbomcp::prelude::*;

include!(concat!(env!("OUT_DIR"), "/fillers.rs"));

struct TurboHandler(Server);

impl Contender for TurboHandler {
    async fn start(fillers: usize) -> Self {
        assert!(fillers == FILLERS, "build with FILLERS={fillers}");
        Self(Server)
    }

    async fn call(&self, tool: &str, arguments: &str) -> String {
        let arguments = serde_json::from_str(arguments).expect("JSON");
        let result = self.0.call_tool(tool, arguments, &RequestContext::new()).await.expect("succeeds");
        result.first_text().expect("a text").to_owned()
    }

    fn list(&self) -> Option<String> {
        Some(serde_json::to_string(&self.0.list_tools()).expect("JSON"))
    }
}

fn main() {
    contest::Entries::new().enter::<TurboHandler>("handler").run();
}
