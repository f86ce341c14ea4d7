use tool_runtime::tool;

#[tool]
fn clone(repository: String) -> String {
    repository
}

fn main() {
    clone(String::new());
}
