use tool_runtime::tool;

#[tool]
fn ping(
    #[arg(min = 1)]
    #[inject]
    times: u8,
) -> u8 {
    times
}

fn main() {
    ping(1);
}
