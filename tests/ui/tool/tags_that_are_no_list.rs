use tool_runtime::tool;

#[tool(tags = "write")]
fn ping() {}

fn main() {
    ping();
}
