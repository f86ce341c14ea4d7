use tool_runtime::{tool, tool_class};

struct Notes;

#[tool_class]
impl Notes {
    #[tool(preview = "write")]
    pub fn write(&self, text: String) {
        drop(text);
    }
}

fn main() {}
