use tool_runtime::tool;

#[tool(nmae = "ping")]
fn ping() {}

fn main() {
    ping();
}
