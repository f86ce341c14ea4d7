use tool_runtime::tool_class;

#[tool_class(new(pool: &str))]
trait Ping: Send + Sync {
    fn ping(&self);
}

#[tool_class(new)]
impl Service<'_> {
    pub fn name(&self) -> String {
        self.0.to_owned()
    }
}

struct Service<'a>(&'a str);

fn main() {
    Service("x").name();
}
