use std::sync::Arc;

use tool_runtime::{tool, tool_class};

struct Service;

#[tool_class(include = ["new", "ping"])]
impl Service {
    #[tool(name = "service.create")]
    pub fn new() -> Arc<Self> {
        Arc::new(Self)
    }

    pub fn ping(&self) {}
}

struct Other;

#[tool_class]
impl Other {
    #[cfg_attr(all(), tool(skip))]
    pub fn new() -> Self {
        Self
    }

    #[tool]
    pub fn ping(&self) {}
}

fn main() {
    Service::new().ping();
    Other::new().ping();
}
