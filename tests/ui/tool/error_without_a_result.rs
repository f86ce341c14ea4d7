use tool_runtime::tool;

/// A tool that cannot fail.
#[tool(error = debug)]
fn count() -> u32 {
    1
}

fn main() {
    count();
}
