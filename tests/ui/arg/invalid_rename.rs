use tool_runtime::tool;

#[tool]
fn ping(#[arg(rename = "how often?")] times: u8) -> u8 {
    times
}

fn main() {
    ping(1);
}
