use tool_runtime::tool;

#[tool(result = "display")]
fn make() -> u8 {
    1
}

#[tool(result)]
fn make_again() -> u8 {
    1
}

fn main() {
    make();
    make_again();
}
