use std::cell::Cell;

use tool_runtime::tool_class;

struct Counter(Cell<u8>);

async fn pause() {}

#[tool_class]
impl Counter {
    pub async fn up(&self) -> u8 {
        pause().await;
        self.0.get() + 1
    }
}

fn main() {
    drop(Counter(Cell::new(0)).up());
}
