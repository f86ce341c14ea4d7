use tool_runtime::tool;

#[tool]
fn run(#[arg(via)] id: u64, #[arg(via = "u64")] other: u64) -> u64 {
    id + other
}

fn main() {
    run(1, 2);
}
