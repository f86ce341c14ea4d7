use tool_runtime::tool_class;

struct Service;

#[tool_class(prefix = "my service")]
impl Service {
    pub fn ping(&self) {}
}

fn main() {
    Service.ping();
}
