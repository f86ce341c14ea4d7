use tool_runtime::tool;

#[tool]
fn ping(#[arg(min = 10, max = 1)] times: u8) -> u8 {
    times
}

fn main() {
    ping(1);
}
