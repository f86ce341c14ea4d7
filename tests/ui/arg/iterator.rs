use tool_runtime::tool;

#[tool]
fn sum(numbers: impl Iterator<Item = u32>) -> u32 {
    numbers.sum()
}

fn main() {
    sum([1].into_iter());
}
