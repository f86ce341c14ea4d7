use tool_runtime::tool;

macro_rules! text {
    () => {
        "Greets."
    };
}

#[doc = text!()]
#[tool]
fn greet() {}

fn main() {
    greet();
}
