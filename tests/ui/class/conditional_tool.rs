use tool_runtime::{tool, tool_class};

struct Service;

#[tool_class]
impl Service {
    #[cfg_attr(all(), tool(name = "ping"))]
    pub fn ping(&self) {}
}

fn main() {
    Service.ping();
}
