use tool_runtime::tool;

#[tool]
fn ping(#[cfg(all())] times: u8) -> u8 {
    times
}

fn main() {
    ping(1);
}
