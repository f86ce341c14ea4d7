//! What a caller hears of a call while it runs.

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use async_nats::Subject;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tool_runtime::{CancellationToken, Progress};

use super::Shared;
use super::request::send;
use crate::wire::Reply;

/// A call that takes longer says that it is worked on, and can be stopped from then on.
const LONG: Duration = Duration::from_millis(100);

/// How often a call that takes long says so.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// How many reports of progress wait to be sent.
const REPORTS: usize = 64;

/// What is said of a call while it runs: that it is worked on, and how far it is.
pub(super) struct News<'a> {
    shared: &'a Shared,
    reply: &'a Subject,
    token: &'a CancellationToken,
    /// Nothing where nobody listens to progress.
    reports: Option<mpsc::Receiver<Value>>,
    /// A report that waits for room to be sent.
    unsent: Option<Value>,
}

impl<'a> News<'a> {
    pub(super) fn new(shared: &'a Shared, reply: &'a Subject, token: &'a CancellationToken) -> Self {
        Self { shared, reply, token, reports: None, unsent: None }
    }

    /// Where the call reports its progress.
    pub(super) fn progress(&mut self) -> Progress {
        let (sender, receiver) = mpsc::channel(REPORTS);
        self.reports = Some(receiver);
        // One that is too many is left out: a handler is not held up by whoever listens.
        Progress::to(move |report| drop(sender.try_send(report)))
    }

    /// Tells them, for as long as it is awaited.
    pub(super) async fn tell(&mut self) -> Infallible {
        let mut long = pin!(sleep(LONG));
        let mut entered = None;
        loop {
            tokio::select! {
                biased;
                Some(report) = next(&mut self.reports) => {
                    let report = self.unsent.insert(report);
                    send(self.shared, self.reply, Reply::progress(report)).await;
                    self.unsent = None;
                }
                () = &mut long => {
                    entered.get_or_insert_with(|| self.shared.running.enter(self.reply, self.token));
                    send(self.shared, self.reply, Reply::working(&self.shared.id)).await;
                    long.set(sleep(HEARTBEAT));
                }
            }
        }
    }

    /// Tells what is left of them once the call has ended.
    pub(super) async fn finish(mut self) {
        let mut waiting = || self.unsent.take().or_else(|| self.reports.as_mut()?.try_recv().ok());
        while let Some(report) = waiting() {
            send(self.shared, self.reply, Reply::progress(&report)).await;
        }
    }
}

async fn next(reports: &mut Option<mpsc::Receiver<Value>>) -> Option<Value> {
    match reports {
        Some(reports) => reports.recv().await,
        None => std::future::pending().await,
    }
}
