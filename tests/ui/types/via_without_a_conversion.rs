use tool_runtime::tool;

struct RunId(u32);

impl From<u32> for RunId {
    fn from(id: u32) -> Self {
        Self(id)
    }
}

#[tool]
fn run(#[arg(via(u64))] id: Option<RunId>) -> u32 {
    id.map_or(0, |id| id.0)
}

fn main() {
    run(Some(RunId(1)));
}
