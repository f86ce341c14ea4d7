use tool_runtime::tool;

#[derive(serde::Deserialize)]
struct Limit(u8);

#[tool]
fn ping(#[arg(default)] limit: Limit) -> u8 {
    limit.0
}

fn main() {
    ping(Limit(1));
}
