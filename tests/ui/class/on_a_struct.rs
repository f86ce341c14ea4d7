use tool_runtime::tool_class;

#[tool_class]
struct Service;

fn main() {
    let _ = Service;
}
