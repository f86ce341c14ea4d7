use tool_runtime::tool;

const FEW: u8 = 3;

#[tool]
fn ping(#[arg(default = FEW)] times: u8) -> u8 {
    times
}

fn main() {
    ping(FEW);
}
