use tool_runtime::tool;

#[tool]
fn dump(#[inject] out: &mut impl std::io::Write) {
    let _ = out;
}

fn main() {
    dump(&mut Vec::new());
}
