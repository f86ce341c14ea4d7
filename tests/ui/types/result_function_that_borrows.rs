use tool_runtime::tool;

struct Named(String);

fn name(named: &Named) -> &str {
    &named.0
}

#[tool(result = name)]
fn make() -> Named {
    Named(String::new())
}

fn main() {
    name(&make());
}
