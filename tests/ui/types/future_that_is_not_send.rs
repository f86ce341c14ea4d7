use std::rc::Rc;

use tool_runtime::tool;

async fn pause() {}

#[tool]
async fn hold() -> u8 {
    let held = Rc::new(1);
    pause().await;
    *held
}

fn main() {
    drop(hold());
}
