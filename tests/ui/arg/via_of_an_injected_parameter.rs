use tool_runtime::tool;

#[tool]
fn run(#[arg(via(u64))] #[inject] id: u64) -> u64 {
    id
}

#[tool(inject = ["id"])]
fn stop(#[arg(via(u64))] id: u64) -> u64 {
    id
}

fn main() {
    run(1);
    stop(1);
}
