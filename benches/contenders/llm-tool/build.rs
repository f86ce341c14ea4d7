//! Generates `FILLERS` more tools.

fn main() {
    let tool = |number: usize| {
        format!("/// One of many.\n#[llm_tool]\nfn filler_{number}(\n/// A number.\na: i64) -> i64 {{ a + {number} }}")
    };
    let register = |count: usize| {
        let lines: String = (0..count).map(|number| format!("registry.register(Filler{number});\n")).collect();
        format!(
            "/// Adds them all.\npub fn register(registry: &mut llm_tool::ToolRegistry) {{ let _ = &registry; {lines} }}"
        )
    };
    fillers::write(tool, register);
}
