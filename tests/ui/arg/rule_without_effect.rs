use tool_runtime::tool;

/// Find hosts.
#[tool]
fn find(
    #[arg(pattern = "^[0-9]+$")] port: u16,
    #[arg(min = 1, max = 9)] host: String,
    #[arg(min_length = 1)] dry: Option<bool>,
    #[arg(max_length = 3)] tags: Vec<String>,
) {
    let _ = (port, host, dry, tags);
}

fn main() {}
