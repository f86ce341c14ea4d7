//! What a tool reports while it runs, as notifications to the client that asked for them.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tool_runtime::{CancellationToken, Progress};

/// How many reports wait at most. A handler is not held up by a client that reads slowly: what does not fit is left out.
const WAITING: usize = 256;

/// How long a client may take to read what is left of the reports once the call is over.
const PATIENCE: Duration = Duration::from_secs(10);

/// The way of a call's reports to its client.
pub(super) struct Reports {
    token: ProgressToken,
    peer: Peer<RoleServer>,
    waiting: mpsc::Receiver<Value>,
    last: Option<f64>,
}

impl Reports {
    pub(super) fn new(token: ProgressToken, peer: Peer<RoleServer>) -> (Progress, Self) {
        let (sender, waiting) = mpsc::channel(WAITING);
        let progress = Progress::to(move |report| drop(sender.try_send(report)));
        (progress, Self { token, peer, waiting, last: None })
    }

    /// Runs a call and passes on what it reports. Every report is sent before the answer, unless the client does not
    /// read them; the call goes on whether it does or not.
    pub(super) async fn during<T>(self, call: impl Future<Output = T>) -> T {
        let over = CancellationToken::new();
        let call = async {
            let result = call.await;
            over.cancel();
            result
        };
        tokio::join!(call, self.pass_on(&over)).0
    }

    async fn pass_on(mut self, over: &CancellationToken) {
        let patience = async {
            over.cancelled().await;
            sleep(PATIENCE).await;
        };
        tokio::select! {
            () = self.send_all(over) => {}
            () = patience => tracing::debug!("a client does not read what is reported"),
        }
    }

    async fn send_all(&mut self, over: &CancellationToken) {
        loop {
            let report = tokio::select! {
                biased;
                Some(report) = self.waiting.recv() => report,
                () = over.cancelled() => return,
            };
            self.send(&report).await;
        }
    }

    async fn send(&mut self, report: &Value) {
        let Some(notification) = read(self.token.clone(), report, self.last) else { return };
        self.last = Some(notification.progress);
        if let Err(error) = self.peer.notify_progress(notification).await {
            tracing::debug!(%error, "a client no longer hears of progress");
        }
    }
}

/// A report in MCP's words. A number says how far the tool is; so does an object, under `progress`, with `total` and
/// `message`. Everything else is a message, and the reports are counted. MCP wants the numbers to grow: nothing if this
/// one does not.
fn read(token: ProgressToken, report: &Value, last: Option<f64>) -> Option<ProgressNotificationParam> {
    let said = match report {
        Value::Object(report) => report.get("progress").and_then(Value::as_f64),
        report => report.as_f64(),
    };
    let progress = said.unwrap_or_else(|| last.map_or(1.0, |last| last + 1.0));
    if last.is_some_and(|last| progress <= last) {
        return None;
    }
    let mut notification = ProgressNotificationParam::new(token, progress);
    match report {
        Value::Object(report) if said.is_some() => {
            notification.total = report.get("total").and_then(Value::as_f64);
            notification.message = report.get("message").and_then(Value::as_str).map(str::to_owned);
        }
        Value::String(text) => notification.message = Some(text.clone()),
        _ if said.is_none() => notification.message = Some(report.to_string()),
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
        let read = reports.iter().filter_map(|report| {
            let read = read(token(), report, last)?;
            last = Some(read.progress);
            Some(json!([read.progress, read.total, read.message]))
        });
        read.collect()
    }

    #[test]
    fn reports_are_numbers_or_are_counted() {
        let reports = [json!(0), json!({"progress": 50, "total": 100, "message": "half"}), json!("nearly")];
        assert_eq!(all(&reports), json!([[0.0, null, null], [50.0, 100.0, "half"], [51.0, null, "nearly"]]));
        let reports = [json!({"file": "a"}), json!([1]), json!(null)];
        assert_eq!(all(&reports), json!([[1.0, null, "{\"file\":\"a\"}"], [2.0, null, "[1]"], [3.0, null, "null"]]));
    }

    #[test]
    fn what_does_not_grow_is_left_out() {
        assert_eq!(all(&[json!(5), json!(5), json!(3), json!(6)]), json!([[5.0, null, null], [6.0, null, null]]));
    }
}
