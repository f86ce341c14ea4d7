use tool_runtime::tool;

#[tool]
fn run(#[arg(with = "my module")] id: u64) -> u64 {
    id
}

fn main() {
    run(1);
}
