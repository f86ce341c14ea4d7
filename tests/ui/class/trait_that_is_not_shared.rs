use tool_runtime::tool_class;

#[tool_class]
trait Stock {
    fn pieces(&self) -> u8;
}

fn main() {}
