use tool_runtime::{tool, tool_class};

struct Service;

#[tool_class]
impl Service {
    pub fn ping(&self) {}

    #[tool(name = "service.ping")]
    pub fn pong(&self) {}
}

fn main() {
    Service.ping();
    Service.pong();
}
