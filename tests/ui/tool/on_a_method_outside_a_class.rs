use tool_runtime::tool;

struct Service;

impl Service {
    #[tool]
    fn ping(&self) {}
}

fn main() {
    Service.ping();
}
