use tool_runtime::tool_class;

struct Service;

#[tool_class(instances(Service))]
impl Service {
    pub fn ping(&self) {}
}

fn main() {
    Service.ping();
}
