use tool_runtime::tool;

#[tool]
extern "C" fn poke(address: usize) -> usize {
    address
}

fn main() {
    poke(1);
}
