use tool_runtime::{tool, tool_class};

struct Numbers<T>(T);

#[tool_class(instances(Numbers<u8> as "bytes", Numbers<u64> as "words"))]
impl<T: std::fmt::Display + Send + Sync + 'static> Numbers<T> {
    /// Show the number.
    #[tool(alias = "print")]
    fn show(&self) -> String {
        self.0.to_string()
    }
}

struct One<T>(T);

#[tool_class(instances(One<u8>), manual)]
impl<T: std::fmt::Display + Send + Sync + 'static> One<T> {
    /// Show the number.
    #[tool(alias = "print_one")]
    fn show(&self) -> String {
        self.0.to_string()
    }
}

fn main() {}
