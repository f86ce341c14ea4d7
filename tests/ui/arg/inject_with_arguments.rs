use tool_runtime::tool;

#[tool]
fn ping(#[inject(name = "user")] user: &str) -> usize {
    user.len()
}

fn main() {
    ping("");
}
