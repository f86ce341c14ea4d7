use tool_runtime::tool;

#[tool]
fn sort(#[arg(default = "up", one_of = ["asc", "desc"])] order: String) -> String {
    order
}

fn main() {
    sort(String::new());
}
