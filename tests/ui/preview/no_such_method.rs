use tool_runtime::{Effect, tool, tool_class};

struct Notes;

#[tool_class]
impl Notes {
    #[tool(preview = "show_change")]
    pub fn write(&self, text: String) {
        drop(text);
    }

    fn show_changes(&self, text: &str) -> Effect {
        text.into()
    }
}

fn main() {}
