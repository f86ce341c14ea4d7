use tool_runtime::tool;

#[tool(preview = "show_changes")]
fn write(text: String) {
    drop(text);
}

fn main() {}
