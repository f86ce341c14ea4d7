use tool_runtime::tool;

#[tool]
fn ping(#[arg(one_of = [1, 2, 1])] times: u8, #[arg(min = 5, one_of = [3, 7])] size: u8) -> u8 {
    times + size
}

fn main() {
    ping(1, 7);
}
