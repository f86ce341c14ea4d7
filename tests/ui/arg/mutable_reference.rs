use tool_runtime::tool;

#[tool]
fn fill(list: &mut Vec<u8>) {
    list.push(1);
}

fn main() {
    fill(&mut vec![]);
}
