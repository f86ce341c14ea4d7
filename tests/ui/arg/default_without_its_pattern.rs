use tool_runtime::tool;

#[tool]
fn ping(#[arg(default = "Host", pattern = "^[a-z]+$")] host: String) -> String {
    host
}

fn main() {
    ping(String::new());
}
