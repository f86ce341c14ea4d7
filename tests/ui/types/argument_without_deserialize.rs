use tool_runtime::tool;

struct Opaque;

#[tool]
fn look(at: Opaque) -> bool {
    let Opaque = at;
    true
}

fn main() {
    look(Opaque);
}
