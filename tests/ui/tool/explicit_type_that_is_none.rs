use tool_runtime::tool;

#[tool(arguments(host(type = "str", required = true)))]
fn ping(host: String) -> String {
    host
}

fn main() {
    ping(String::new());
}
