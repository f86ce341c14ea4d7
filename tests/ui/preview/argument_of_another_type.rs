use tool_runtime::{Effect, tool, tool_class};

struct Notes;

#[tool_class]
impl Notes {
    #[tool(preview = "show_changes")]
    pub fn write(&self, line: u32) {
        let _ = line;
    }

    fn show_changes(&self, line: String) -> Effect {
        line.into()
    }
}

fn main() {}
