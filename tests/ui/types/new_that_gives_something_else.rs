use tool_runtime::tool_class;

struct Service;

#[tool_class]
impl Service {
    pub fn new() -> Option<Self> {
        Some(Self)
    }

    pub fn ping(&self) {}
}

fn main() {
    Service::new().unwrap().ping();
}
