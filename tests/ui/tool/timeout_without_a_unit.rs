use tool_runtime::tool;

#[tool(timeout = "5")]
fn ping() {}

fn main() {
    ping();
}
