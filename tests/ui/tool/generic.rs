use tool_runtime::tool;

#[tool]
fn count<T: serde::de::DeserializeOwned>(items: Vec<T>) -> usize {
    items.len()
}

fn main() {
    count(vec![1]);
}
