use tool_runtime::{tool, tool_class};

struct Transaction;

struct Book<'a>(&'a Transaction);

#[tool_class(manual)]
impl<'a> Book<'a> {
    pub async fn new(transaction: &'a Transaction) -> Self {
        Self(transaction)
    }

    #[tool(blocking)]
    pub fn read(&self) {
        let _ = self.0;
    }
}

struct Optional<'a>(Option<&'a Transaction>);

#[tool_class]
impl<'a> Optional<'a> {
    pub fn new(transaction: Option<&'a Transaction>) -> Self {
        Self(transaction)
    }

    pub fn read(&self) {
        let _ = self.0;
    }
}

fn main() {}
