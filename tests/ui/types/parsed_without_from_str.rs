use tool_runtime::tool;

struct Opaque;

#[tool]
fn look(#[arg(parse)] at: Vec<Opaque>) -> usize {
    at.len()
}

fn main() {
    look(vec![Opaque]);
}
