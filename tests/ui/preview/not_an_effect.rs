use tool_runtime::{tool, tool_class};

struct Notes;

#[tool_class]
impl Notes {
    #[tool(preview = "show_changes")]
    pub fn write(&self, text: String) {
        drop(text);
    }

    fn show_changes(&self, text: &str) -> usize {
        text.len()
    }
}

fn main() {}
