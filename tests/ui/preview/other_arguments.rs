use tool_runtime::{Effect, tool, tool_class};

struct Notes;

#[tool_class]
impl Notes {
    #[tool(preview = "show_changes")]
    pub fn write(&self, name: String, text: String) {
        drop((name, text));
    }

    fn show_changes(&self, text: &str, line: u32) -> Effect {
        format!("{text} {line}").into()
    }
}

fn main() {}
