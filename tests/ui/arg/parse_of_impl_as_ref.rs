use std::path::Path;

use tool_runtime::tool;

#[tool]
fn size(#[arg(parse)] path: impl AsRef<Path>) -> usize {
    path.as_ref().components().count()
}

fn main() {
    size("a");
}
