use tool_runtime::tool;

#[tool]
fn join(words: Vec<&str>) -> String {
    words.join(" ")
}

fn main() {
    join(vec![]);
}
