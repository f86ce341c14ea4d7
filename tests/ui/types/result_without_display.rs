use tool_runtime::tool;

#[derive(Debug)]
struct Opaque;

#[tool(result = display)]
fn make() -> Result<Vec<Opaque>, String> {
    Ok(vec![Opaque])
}

fn main() {
    println!("{:?}", make());
}
