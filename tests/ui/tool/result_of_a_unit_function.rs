use tool_runtime::tool;

#[tool(result = display)]
fn stop() {}

#[tool(result = debug)]
fn try_to_stop() -> Result<(), String> {
    Ok(())
}

fn main() {
    stop();
    println!("{:?}", try_to_stop());
}
