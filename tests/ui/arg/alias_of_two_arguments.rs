use tool_runtime::tool;

/// Copy a file.
#[tool]
fn copy(
    #[arg(alias = ["path", "path"])] from: &str,
    #[arg(alias = "path")] to: &str,
    #[arg(alias = ["mode", "from"])] mode: &str,
) {
    let _ = (from, to, mode);
}

fn main() {}
