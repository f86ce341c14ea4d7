use tool_runtime::tool;

#[tool(preview = "show_changes")]
fn write(text: String) {
    drop(text);
}

async fn show_changes(text: String) -> usize {
    text.len()
}

fn main() {}
