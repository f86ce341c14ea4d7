use tool_runtime::tool;

#[tool(name = "a b")]
fn ping(#[arg(min = 2, max = 1)] times: u8, (a, b): (u8, u8), words: Vec<(u8, &str)>) -> usize {
    usize::from(times + a + b) + words.len()
}

fn main() {
    ping(1, (1, 1), vec![]);
}
