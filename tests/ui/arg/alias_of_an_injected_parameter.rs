use tool_runtime::tool;

/// Count the users.
#[tool]
fn count(#[arg(alias = "database")] table: &str, #[inject] database: &String) -> usize {
    table.len() + database.len()
}

fn main() {}
