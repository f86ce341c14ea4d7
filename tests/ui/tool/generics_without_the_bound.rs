use tool_runtime::tool;

trait Progress {}

struct Silent;

#[tool(generics(P = Silent))]
fn run<P: Progress>(#[inject] progress: &P) {
    let _ = progress;
}

fn main() {
    run::<Loud>(&Loud);
}

struct Loud;

impl Progress for Loud {}
