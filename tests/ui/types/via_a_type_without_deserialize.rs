use tool_runtime::tool;

struct Opaque;

struct RunId;

impl From<Opaque> for RunId {
    fn from(_: Opaque) -> Self {
        Self
    }
}

#[tool]
fn run(#[arg(via(Opaque))] id: RunId) -> bool {
    matches!(id, RunId)
}

fn main() {
    run(Opaque.into());
}
