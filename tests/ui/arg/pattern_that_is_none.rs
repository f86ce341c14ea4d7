use tool_runtime::tool;

#[tool]
fn find(#[arg(pattern = "(a")] name: String) -> String {
    name
}

fn main() {
    find(String::new());
}
