use tool_runtime::tool;

#[tool]
fn mask(#[arg(default = 340282366920938463463374607431768211455)] bits: u128) -> u128 {
    bits
}

fn main() {
    mask(1);
}
