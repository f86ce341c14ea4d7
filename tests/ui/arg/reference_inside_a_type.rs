use tool_runtime::tool;

#[tool]
fn join(words: Vec<(u8, &str)>) -> String {
    words.len().to_string()
}

fn main() {
    join(vec![]);
}
