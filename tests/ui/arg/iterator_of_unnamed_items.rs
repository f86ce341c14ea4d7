use tool_runtime::tool;

#[tool]
fn sum(rows: impl Iterator<Item = impl Iterator<Item = u32>>) -> u32 {
    rows.flatten().sum()
}

fn main() {
    sum([[1].into_iter()].into_iter());
}
