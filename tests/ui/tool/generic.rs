use tool_runtime::tool;

#[tool]
fn show<T: ToString>(value: T) -> String {
    value.to_string()
}

fn main() {
    show(5);
}
