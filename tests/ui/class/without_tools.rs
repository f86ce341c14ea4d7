use tool_runtime::tool_class;

struct Private;

#[tool_class]
impl Private {
    pub fn new() -> Self {
        Self
    }

    fn ping(&self) {}
}

struct Excluded;

#[tool_class(exclude = ["ping"])]
impl Excluded {
    pub fn ping(&self) {}
}

fn main() {
    Private::new().ping();
    Excluded.ping();
}
