use tool_runtime::tool;

#[tool(arguments(hots(type = "string", required = true)))]
fn ping(host: String) -> String {
    host
}

fn main() {
    ping(String::new());
}
