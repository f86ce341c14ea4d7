use tool_runtime::tool;

struct Opaque;

#[tool]
fn make() -> Opaque {
    Opaque
}

fn main() {
    make();
}
