use tool_runtime::tool_class;

struct Service;

trait Ping {
    fn ping(&self);
}

#[tool_class]
impl Ping for Service {
    fn ping(&self) {}
}

fn main() {
    Service.ping();
}
