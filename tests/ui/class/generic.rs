use tool_runtime::tool_class;

struct Service<T>(T);

#[tool_class]
impl<T: Clone> Service<T> {
    pub fn get(&self) -> u8 {
        let _ = self.0.clone();
        0
    }
}

fn main() {
    Service(1).get();
}
