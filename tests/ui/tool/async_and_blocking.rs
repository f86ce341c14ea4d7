use tool_runtime::tool;

#[tool(blocking)]
async fn wait() {}

fn main() {
    drop(wait());
}
