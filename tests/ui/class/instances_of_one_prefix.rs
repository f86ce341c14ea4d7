use tool_runtime::tool_class;

struct Service<T>(T);

#[tool_class(instances(Service<u8>, Service<u16>))]
impl<T: Send> Service<T> {
    pub fn ping(&self) {}
}

fn main() {
    Service(1).ping();
}
