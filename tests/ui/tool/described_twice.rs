use tool_runtime::tool;

#[tool(arguments(times(type = "integer", required = true)))]
fn ping(#[arg(min = 1)] times: u8) -> u8 {
    times
}

fn main() {
    ping(1);
}
