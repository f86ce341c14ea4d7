use tool_runtime::tool;

struct Opaque;

fn show(number: u8) -> String {
    number.to_string()
}

#[tool(result = show)]
fn make() -> Option<Opaque> {
    Some(Opaque)
}

fn main() {
    show(1);
    make();
}
