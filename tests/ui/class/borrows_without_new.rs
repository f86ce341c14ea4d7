use tool_runtime::tool_class;

struct Service<'a>(&'a str);

#[tool_class]
impl<'a> Service<'a> {
    pub fn name(&self) -> String {
        self.0.to_owned()
    }
}

trait Ping {
    fn ping(&self);
}

#[tool_class]
impl Ping for Service<'_> {
    fn ping(&self) {}
}

fn main() {
    Service("x").name();
    Service("x").ping();
}
