//! x
use tool_runtime::{tool, tool_class};

/// Add two numbers.
#[tool]
pub fn add(a: i64, b: i64) -> i64 {
    a + b
}

pub struct EchoService;
#[tool_class]
impl EchoService {
    /// Make one.
    pub fn new() -> Self {
        EchoService
    }
    /// Echo text.
    pub async fn say(&self, text: &str, #[arg(default = 1, min = 1, max = 3)] times: u32) -> Result<String, String> {
        Ok(text.repeat(times as usize))
    }
    /// With url.
    #[tool(sensitive)]
    pub fn open(url: url::Url, other: Option<url::Url>, id: uuid::Uuid) -> String {
        format!("{url} {other:?} {id}")
    }
}
