use tool_runtime::tool;

#[tool]
unsafe fn poke(address: usize) -> usize {
    address
}

fn main() {}
