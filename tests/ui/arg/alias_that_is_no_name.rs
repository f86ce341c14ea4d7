use tool_runtime::tool;

/// Read a file.
#[tool]
fn read(#[arg(alias = "file path")] path: &str, #[arg(alias = 3)] from: u8, #[arg(alias = [])] to: u8) {
    let _ = (path, from, to);
}

/// Read another file.
#[tool]
fn read_other(#[arg(alias = "file path")] path: &str) {
    let _ = path;
}

fn main() {}
