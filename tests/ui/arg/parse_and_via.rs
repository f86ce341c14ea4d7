use tool_runtime::tool;

#[tool]
fn run(#[arg(parse, via(u64))] id: u64, #[arg(parse, with = "module")] other: u64) -> u64 {
    id + other
}

fn main() {
    run(1, 2);
}
