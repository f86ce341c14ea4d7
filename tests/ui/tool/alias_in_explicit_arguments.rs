use tool_runtime::tool;

/// Read a file.
#[tool(arguments(path(type = "string", aliases = ["file_path"])))]
fn read(path: &str) {
    let _ = path;
}

fn main() {}
