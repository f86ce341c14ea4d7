use tool_runtime::tool_class;

struct Service;

#[tool_class(opt_in)]
impl Service {
    pub fn ping(&self) {}
}

#[tool_class(opt_in)]
trait Pings {
    fn ping(&self);
}

fn main() {
    Service.ping();
}
