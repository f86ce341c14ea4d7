use tool_runtime::{Progress, tool};

#[tool]
fn copy(progress: Progress) {
    progress.report(1);
}

fn main() {}
