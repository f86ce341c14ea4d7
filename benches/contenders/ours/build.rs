//! Generates `FILLERS` more tools.

fn main() {
    let tool = |number: usize| {
        format!("/// One of many.\n#[tool_runtime::tool]\nfn filler_{number}(a: i64) -> i64 {{ a + {number} }}")
    };
    fillers::write(tool, |_| String::new());
}
