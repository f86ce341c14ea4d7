use tool_runtime::tool;

#[tool]
fn add((a, b): (i64, i64)) -> i64 {
    a + b
}

fn main() {
    add((1, 2));
}
