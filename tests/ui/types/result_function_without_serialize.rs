use tool_runtime::tool;

struct Opaque;

struct Shown;

fn show(_: &Opaque) -> Shown {
    Shown
}

#[tool(result = show)]
fn make() -> Opaque {
    Opaque
}

fn main() {
    show(&make());
}
