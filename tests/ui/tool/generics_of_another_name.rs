use tool_runtime::{tool, tool_class};

#[tool(generics(Item = u8))]
fn count<Items: Default>(value: Items) -> usize {
    drop(value);
    1
}

#[tool(generics(T = u8))]
fn plain(value: u8) -> u8 {
    value
}

struct Service;

#[tool_class]
impl Service {
    #[tool(generics(T = u8, T = u16))]
    pub fn twice<T: Default>(&self, value: T) -> T {
        value
    }

    #[tool(generics(name = String))]
    pub fn named<T: Default>(&self, name: &str, value: T) -> T {
        drop(name);
        value
    }

    #[tool(generics = "T")]
    pub fn text<T: Default>(&self, value: T) -> T {
        value
    }
}

fn main() {
    count(1);
    plain(1);
}
