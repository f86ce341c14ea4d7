use tool_runtime::tool_class;

#[tool_class]
trait Stock: Send + Sync {
    fn clear(&mut self);
}

fn main() {}
