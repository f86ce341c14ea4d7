use tool_runtime::tool;

#[tool]
fn ping(#[arg(default = 0, min = 1)] times: u8) -> u8 {
    times
}

fn main() {
    ping(1);
}
