use tool_runtime::tool;

#[tool]
fn ping(#[arg(maximum = 3)] times: u8) -> u8 {
    times
}

fn main() {
    ping(1);
}
