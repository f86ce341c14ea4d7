use tool_runtime::tool;

struct RunId(u32);

struct Broken;

impl TryFrom<u32> for RunId {
    type Error = Broken;

    fn try_from(id: u32) -> Result<Self, Broken> {
        if id > 0 { Ok(Self(id)) } else { Err(Broken) }
    }
}

#[tool]
fn run(#[arg(via(u32))] id: RunId) -> u32 {
    id.0
}

fn main() {
    run(RunId(1));
}
