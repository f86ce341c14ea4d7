use tool_runtime::tool;

#[tool]
fn run(#[arg(via(&str))] name: String) -> String {
    name
}

fn main() {
    run(String::new());
}
