//! Forwards the progress reports of a call to its client.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tool_runtime::{CancellationToken, Progress};

/// The number of buffered reports. If a client reads slowly, further reports are dropped: the handler never waits.
const BUFFERED: usize = 256;

/// The time that a client has to read the remaining reports when the call has ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Forwards the reports of a call.
pub(super) struct ProgressForwarder {
    token: ProgressToken,
    peer: Peer<RoleServer>,
    reports: mpsc::Receiver<Value>,
    last: Option<f64>,
}

impl ProgressForwarder {
    pub(super) fn new(token: ProgressToken, peer: Peer<RoleServer>) -> (Progress, Self) {
        let (sender, reports) = mpsc::channel(BUFFERED);
        let progress = Progress::to(move |report| drop(sender.try_send(report)));
        (progress, Self { token, peer, reports, last: None })
    }

    /// Runs a call and forwards its reports. Every report is sent before the result, unless the client does not read
    /// them. The call never waits for the client.
    pub(super) async fn run<T>(self, call: impl Future<Output = T>) -> T {
        let over = CancellationToken::new();
        let call = async {
            let result = call.await;
            over.cancel();
            result
        };
        tokio::join!(call, self.forward(&over)).0
    }

    async fn forward(mut self, over: &CancellationToken) {
        let deadline = async {
            over.cancelled().await;
            sleep(DRAIN_TIMEOUT).await;
        };
        tokio::select! {
            () = self.send_all(over) => {}
            () = deadline => tracing::debug!("a client does not read progress reports"),
        }
    }

    async fn send_all(&mut self, over: &CancellationToken) {
        loop {
            let report = tokio::select! {
                biased;
                Some(report) = self.reports.recv() => report,
                () = over.cancelled() => return,
            };
            self.send(&report).await;
        }
    }

    async fn send(&mut self, report: &Value) {
        let Some(notification) = notification(self.token.clone(), report, self.last) else { return };
        self.last = Some(notification.progress);
        if let Err(error) = self.peer.notify_progress(notification).await {
            tracing::debug!(%error, "cannot send a progress report to a client");
        }
    }
}

/// Converts a report to a notification. A number is the progress; so is `progress` in an object, with `total` and
/// `message`. Any other value is a message, and its progress is counted. MCP requires increasing numbers, so a report
/// that does not increase is dropped.
fn notification(token: ProgressToken, report: &Value, last: Option<f64>) -> Option<ProgressNotificationParam> {
    let number = match report {
        Value::Object(report) => report.get("progress").and_then(Value::as_f64),
        report => report.as_f64(),
    };
    let progress = number.unwrap_or_else(|| last.map_or(1.0, |last| last + 1.0));
    if last.is_some_and(|last| progress <= last) {
        return None;
    }
    let mut notification = ProgressNotificationParam::new(token, progress);
    match report {
        Value::Object(report) if number.is_some() => {
            notification.total = report.get("total").and_then(Value::as_f64);
            notification.message = report.get("message").and_then(Value::as_str).map(str::to_owned);
        }
        Value::String(text) => notification.message = Some(text.clone()),
        _ if number.is_none() => notification.message = Some(report.to_string()),
        _ => {}
    }
    Some(notification)
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;
    use serde_json::json;

    use super::*;

    fn all(reports: &[Value]) -> Value {
        let mut last = None;
        let token = || ProgressToken(NumberOrString::Number(1));
        let sent = reports.iter().filter_map(|report| {
            let sent = notification(token(), report, last)?;
            last = Some(sent.progress);
            Some(json!([sent.progress, sent.total, sent.message]))
        });
        sent.collect()
    }

    #[test]
    fn counts_reports_without_a_number() {
        let reports = [json!(0), json!({"progress": 50, "total": 100, "message": "half"}), json!("nearly")];
        assert_eq!(all(&reports), json!([[0.0, null, null], [50.0, 100.0, "half"], [51.0, null, "nearly"]]));
        let reports = [json!({"file": "a"}), json!([1]), json!(null)];
        assert_eq!(all(&reports), json!([[1.0, null, "{\"file\":\"a\"}"], [2.0, null, "[1]"], [3.0, null, "null"]]));
    }

    #[test]
    fn drops_reports_that_do_not_increase() {
        assert_eq!(all(&[json!(5), json!(5), json!(3), json!(6)]), json!([[5.0, null, null], [6.0, null, null]]));
    }
}
