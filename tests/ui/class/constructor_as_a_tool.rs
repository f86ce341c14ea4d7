use std::sync::Arc;

use tool_runtime::{tool, tool_class};

struct Service;

#[tool_class(include = ["ping", "connect"])]
impl Service {
    #[tool]
    pub fn open() -> Result<Arc<Self>, String> {
        Ok(Arc::new(Self))
    }

    pub async fn connect() -> Option<Service> {
        None
    }

    /// Ping it.
    pub fn ping(&self) {}
}

fn main() {
    Service::open().unwrap().ping();
    drop(Service::connect());
}
