use tool_runtime::tool_class;

struct Service;

#[tool_class(name_prefix = "system")]
impl Service {
    pub fn ping(&self) {}
}

fn main() {
    Service.ping();
}
