use tool_runtime::{Effect, tool, tool_class};

pub struct Service;

#[tool_class]
impl Service {
    #[tool(preview = "show")]
    pub fn run(&self, #[arg(parse)] id: u64) -> u64 {
        id
    }

    fn show(&self, #[arg(parse)] id: u64) -> Effect {
        id.to_string().into()
    }
}

fn main() {
    Service.run(1);
}
