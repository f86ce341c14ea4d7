use tool_runtime::tool;

struct Seconds(f64);

mod seconds {
    use serde::{Deserialize, Deserializer};

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        f64::deserialize(deserializer)
    }
}

#[tool]
fn wait(#[arg(with = "seconds", any)] time: Seconds) -> f64 {
    time.0
}

fn main() {
    wait(Seconds(1.0));
}
