use std::str::FromStr;

use tool_runtime::tool;

struct Sha;

struct Broken;

impl FromStr for Sha {
    type Err = Broken;

    fn from_str(_: &str) -> Result<Self, Broken> {
        Err(Broken)
    }
}

#[tool]
fn look(#[arg(parse)] at: &Sha) -> bool {
    matches!(at, Sha)
}

fn main() {
    look(&Sha);
}
