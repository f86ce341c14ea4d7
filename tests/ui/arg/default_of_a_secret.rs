use tool_runtime::tool;

/// Signs in.
#[tool]
fn sign_in(#[arg(secret, default = "hunter2")] password: String) {}

fn main() {}
