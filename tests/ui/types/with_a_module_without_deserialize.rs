use tool_runtime::tool;

struct Seconds(f64);

mod seconds {}

#[tool]
fn wait(#[arg(with = "seconds", any)] time: Seconds) -> f64 {
    time.0
}

fn main() {
    wait(Seconds(1.0));
}
