use tool_runtime::tool;

#[tool]
fn show(value: impl std::fmt::Display) -> String {
    value.to_string()
}

fn main() {
    show(1);
}
