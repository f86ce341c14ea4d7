use tool_runtime::tool;

#[tool]
fn show(value: impl Fn() -> u8) -> u8 {
    value()
}

fn main() {
    show(|| 1);
}
