use tool_runtime::tool_class;

struct Service;

#[tool_class(exclude = ["rebild_index"])]
impl Service {
    pub fn rebuild_index(&self) {}
}

fn main() {
    Service.rebuild_index();
}
