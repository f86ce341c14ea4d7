use tool_runtime::tool;

#[tool(name = "ping host!")]
fn ping() {}

fn main() {
    ping();
}
