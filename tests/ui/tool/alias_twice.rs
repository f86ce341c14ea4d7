use tool_runtime::tool;

/// Run a command.
#[tool(alias = ["exec", "exec", "run"])]
fn run() {}

/// Run another command.
#[tool(alias = "run it")]
fn run_other() {}

fn main() {}
