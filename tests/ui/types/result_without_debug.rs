use tool_runtime::tool;

struct Opaque;

#[tool(result = debug)]
fn make() -> Opaque {
    Opaque
}

fn main() {
    make();
}
