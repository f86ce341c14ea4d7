use tool_runtime::tool;

#[tool(skip)]
fn ping() {}

fn main() {
    ping();
}
