use tool_runtime::tool_class;

struct Service;

#[tool_class(include = ["ping"], exclude = ["ping"])]
impl Service {
    pub fn ping(&self) {}
}

fn main() {
    Service.ping();
}
