use tool_runtime::tool_class;

pub struct Service;

#[tool_class(types(u64 = parsed), results(u64 = "debug"))]
impl Service {
    pub fn run(&self, id: u64) -> u64 {
        id
    }
}

fn main() {
    Service.run(1);
}
