use tool_runtime::{tool, tool_class};

struct Service;

#[tool_class(include = ["ping"])]
impl Service {
    pub fn ping(&self) {}

    #[tool(sensitive)]
    pub fn pong(&self) {}
}

fn main() {
    Service.ping();
    Service.pong();
}
