use tool_runtime::tool;

#[tool]
fn size<const N: usize>() -> usize {
    N
}

fn main() {
    size::<3>();
}
