use tool_runtime::tool;

#[derive(Debug)]
struct Broken;

#[tool]
fn fail() -> Result<(), Broken> {
    Err(Broken)
}

fn main() {
    let _ = fail();
}
