use tool_runtime::tool;

#[tool]
fn run(#[arg(with = "my module", via(u64))] id: u64) -> u64 {
    id
}

fn main() {
    run(1);
}
