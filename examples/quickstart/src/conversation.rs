//! The calls of one conversation, as a model would make them.

use tool_runtime::{Dispatcher, ToolCall, ToolResult};

use crate::user::CurrentUser;

/// One call, and what it demonstrates.
pub struct Turn {
    pub why: &'static str,
    pub tool: &'static str,
    /// The arguments as the model wrote them.
    pub arguments: &'static str,
    pub user: Option<CurrentUser>,
}

impl Turn {
    const fn new(why: &'static str, tool: &'static str, arguments: &'static str) -> Self {
        Self { why, tool, arguments, user: None }
    }

    fn by(self, user: CurrentUser) -> Self {
        Self { user: Some(user), ..self }
    }

    pub async fn run(&self, tools: &Dispatcher) -> ToolResult {
        let call = tools.call(ToolCall::from_text(self.tool, self.arguments));
        match self.user.clone() {
            Some(user) => call.with(user).await,
            None => call.await,
        }
    }
}

pub fn turns() -> Vec<Turn> {
    let ada = CurrentUser { name: "Ada".to_owned(), may_delete: true };
    let ben = CurrentUser { name: "Ben".to_owned(), may_delete: false };
    vec![
        Turn::new("A write that is committed.", "metrics.record", RECORD),
        Turn::new("A read; `limit` has a default.", "metrics.newest", r#"{"host": "web-1"}"#),
        Turn::new("A service shared by all calls.", "report.host", r#"{"host": "web-1", "detail": "long"}"#),
        Turn::new("A function with an injected domain.", "hosts.address", r#"{"host": "web-1"}"#),
        Turn::new(
            "All invalid arguments are reported at once.",
            "metrics.newest",
            r#"{"limit": 500, "since": "yesterday"}"#,
        ),
        Turn::new("Nested mistakes are reported with their paths.", "metrics.record", MISSHAPEN),
        Turn::new("An unknown tool with a similar name.", "metric.newest", r#"{"host": "web-1"}"#),
        Turn::new("The second point is rejected: both are rolled back.", "metrics.record", UNORDERED),
        Turn::new("The newest point is still the one of 12:01.", "metrics.newest", r#"{"host": "web-1", "limit": 1}"#),
        Turn::new("A call without a user.", "metrics.purge", r#"{"host": "web-1"}"#),
        Turn::new("A user without permission.", "metrics.purge", r#"{"host": "web-1"}"#).by(ben),
        Turn::new("A user with permission.", "metrics.purge", r#"{"host": "web-1"}"#).by(ada),
        Turn::new("All points are gone.", "report.host", r#"{"host": "web-1"}"#),
    ]
}

const RECORD: &str = r#"{
  "host": "web-1",
  "points": [{"at": "2026-01-01T12:00:00Z", "value": 41}, {"at": "2026-01-01T12:01:00Z", "value": 86.5}]
}"#;

const MISSHAPEN: &str = r#"{
  "host": "Web 1",
  "points": [{"at": "2026-01-01T12:02:00Z", "value": "high"}, {"value": 50}]
}"#;

const UNORDERED: &str = r#"{
  "host": "web-1",
  "points": [{"at": "2026-01-01T12:02:00Z", "value": 12}, {"at": "2025-01-01T00:00:00Z", "value": 9}]
}"#;
