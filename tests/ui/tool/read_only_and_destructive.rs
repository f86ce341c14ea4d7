use tool_runtime::tool;

#[tool(read_only, destructive)]
fn look() {}

fn main() {
    look();
}
