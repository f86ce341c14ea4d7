use tool_runtime::tool;

#[tool]
fn sum(#[arg(max_length = 2)] numbers: [u8; 5], #[arg(min_length = 3)] pair: &[u8; 2]) -> usize {
    numbers.len() + pair.len()
}

fn main() {
    sum([0; 5], &[0; 2]);
}
