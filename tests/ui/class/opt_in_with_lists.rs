use tool_runtime::{tool, tool_class};

struct Service;

#[tool_class(opt_in, exclude = ["wait"])]
impl Service {
    /// Ping it.
    #[tool]
    pub fn ping(&self) {}

    pub fn wait(&self) {}
}

struct Other;

#[tool_class(include = ["ping"], opt_in)]
impl Other {
    /// Ping it.
    #[tool]
    pub fn ping(&self) {}
}

fn main() {
    Service.ping();
    Service.wait();
    Other.ping();
}
