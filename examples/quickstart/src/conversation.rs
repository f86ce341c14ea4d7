//! The calls of one conversation, as a model would make them.

use tool_runtime::{Dispatcher, ToolCall, ToolResult};

use crate::user::CurrentUser;

/// One call, and why it is made.
pub struct Turn {
    pub why: &'static str,
    pub tool: &'static str,
    /// The text that the model wrote.
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
        Turn::new("It writes, and is committed.", "metrics.record", RECORD),
        Turn::new("It reads; `limit` has a default.", "metrics.newest", r#"{"host": "web-1"}"#),
        Turn::new("A service that all calls share.", "report.host", r#"{"host": "web-1", "detail": "long"}"#),
        Turn::new("A function; the domain is injected.", "hosts.address", r#"{"host": "web-1"}"#),
        Turn::new("All that is wrong is said at once.", "metrics.newest", r#"{"limit": 500, "since": "yesterday"}"#),
        Turn::new("So is what is wrong deep inside.", "metrics.record", MISSHAPEN),
        Turn::new("There is no such tool, but one like it.", "metric.newest", r#"{"host": "web-1"}"#),
        Turn::new("The first point is written, the second refused: both are rolled back.", "metrics.record", UNORDERED),
        Turn::new("The newest point is still that of 12:01.", "metrics.newest", r#"{"host": "web-1", "limit": 1}"#),
        Turn::new("No user came with the call.", "metrics.purge", r#"{"host": "web-1"}"#),
        Turn::new("A user came who may not.", "metrics.purge", r#"{"host": "web-1"}"#).by(ben),
        Turn::new("A user came who may.", "metrics.purge", r#"{"host": "web-1"}"#).by(ada),
        Turn::new("Nothing is left.", "report.host", r#"{"host": "web-1"}"#),
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
