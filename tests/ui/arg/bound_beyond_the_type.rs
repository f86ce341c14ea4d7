use tool_runtime::tool;

/// Find hosts.
#[tool]
fn find(#[arg(min = 256)] byte: u8, #[arg(max = -1)] count: usize, #[arg(max = 1000)] fine: u8) {
    let _ = (byte, count, fine);
}

fn main() {}
