use tool_runtime::tool;

#[tool]
struct Ping;

fn main() {
    let _ = Ping;
}
