use tool_runtime::tool_class;

struct Service<T>(T);
struct Other<T>(T);

#[tool_class(instances(Other<u8>))]
impl<T: Send> Service<T> {
    pub fn ping(&self) {}
}

fn main() {
    Service(1).ping();
    let _ = Other(1).0;
}
