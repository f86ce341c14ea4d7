use tool_runtime::tool;

#[tool]
fn ping(host: String, #[arg(rename = "host")] target: String) -> String {
    host + &target
}

fn main() {
    ping(String::new(), String::new());
}
