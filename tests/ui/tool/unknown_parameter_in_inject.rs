use tool_runtime::tool;

#[tool(inject = ["usr"])]
fn ping(user: &str) -> usize {
    user.len()
}

fn main() {
    ping("");
}
