//! Heartbeats and progress of a running call.

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use async_nats::Subject;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tool_runtime::{CancellationToken, Progress};

use super::WorkerShared;
use super::request::send;
use crate::wire::CallReply;

/// A call that takes longer than this sends heartbeats and can be cancelled.
const FIRST_HEARTBEAT: Duration = Duration::from_millis(100);

/// The interval of heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// The number of queued progress reports.
const CAPACITY: usize = 64;

/// The heartbeats and progress reports of a running call.
pub(super) struct CallHeartbeat<'a> {
    shared: &'a WorkerShared,
    reply: &'a Subject,
    token: &'a CancellationToken,
    /// `None` if the caller wants no progress.
    reports: Option<mpsc::Receiver<Value>>,
    /// A report that is being sent.
    unsent: Option<Value>,
}

impl<'a> CallHeartbeat<'a> {
    pub(super) fn new(shared: &'a WorkerShared, reply: &'a Subject, token: &'a CancellationToken) -> Self {
        Self { shared, reply, token, reports: None, unsent: None }
    }

    /// Returns the sink for the handler's progress.
    pub(super) fn progress(&mut self) -> Progress {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        self.reports = Some(receiver);
        // Excess reports are dropped, so that a slow caller does not block the handler.
        Progress::to(move |report| drop(sender.try_send(report)))
    }

    /// Sends heartbeats and reports for as long as it is polled.
    pub(super) async fn run(&mut self) -> Infallible {
        let mut timer = pin!(sleep(FIRST_HEARTBEAT));
        let mut guard = None;
        loop {
            tokio::select! {
                biased;
                Some(report) = next(&mut self.reports) => {
                    let report = self.unsent.insert(report);
                    send(self.shared, self.reply, CallReply::progress(report)).await;
                    self.unsent = None;
                }
                () = &mut timer => {
                    guard.get_or_insert_with(|| self.shared.running.register(self.reply, self.token));
                    send(self.shared, self.reply, CallReply::working(&self.shared.id)).await;
                    timer.set(sleep(HEARTBEAT));
                }
            }
        }
    }

    /// Sends the remaining reports after the call has ended.
    pub(super) async fn finish(mut self) {
        let mut waiting = || self.unsent.take().or_else(|| self.reports.as_mut()?.try_recv().ok());
        while let Some(report) = waiting() {
            send(self.shared, self.reply, CallReply::progress(&report)).await;
        }
    }
}

async fn next(reports: &mut Option<mpsc::Receiver<Value>>) -> Option<Value> {
    match reports {
        Some(reports) => reports.recv().await,
        None => std::future::pending().await,
    }
}
