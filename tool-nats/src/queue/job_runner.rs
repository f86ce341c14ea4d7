//! Execution of jobs.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::{AckKind, Message};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tool_runtime::{CancellationToken, ErrorKind, ToolError, ToolResult};

use super::JobId;
use super::job::JobState;
use super::store::QueueStore;
use crate::NatsError;
use crate::wire::{CallHeaders, JOB, REPEAT, header};
use crate::worker::{ApprovedByCaller, ServedTool, WorkerShared};

/// The delay before retrying after an error.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// The interval at which the record is checked for a cancellation.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The number of attempts to record a result.
const RECORD_ATTEMPTS: u32 = 60;

/// The time limit for all attempts: without a connection, a request may wait forever.
const RECORD_TIMEOUT: Duration = Duration::from_secs(300);

/// The maximum number of starts of a job: one that crashes its worker would crash them all.
const MAX_STARTS: u32 = 5;

/// The maximum number of deliveries of a job without a record: the replica that was asked may lag behind.
const MAX_UNRECORDED: i64 = 10;

/// A runner for the jobs of one tool.
#[derive(Clone)]
pub(super) struct JobRunner {
    pub(super) store: Arc<QueueStore>,
    pub(super) shared: Arc<WorkerShared>,
    pub(super) tool: Arc<ServedTool>,
}

/// The owner of a delivered job.
enum JobClaim {
    /// This worker, with the number of this attempt.
    Own { attempt: u32 },
    /// Another worker that is running it.
    Other,
    /// The worker that claimed it by another message.
    Duplicate,
    /// None: the job has finished.
    Finished,
}

/// The journal's record of a job whose worker is silent.
enum RecordedRun {
    /// The call completed.
    Completed(ToolResult),
    /// Its process is alive and running it.
    Running,
    /// Unknown.
    Unknown,
}

impl JobRunner {
    /// Returns the number of connections made so far.
    pub(super) fn connects(&self) -> u64 {
        self.shared.client.statistics().connects.load(Ordering::Relaxed)
    }

    /// Runs a job, unless it is already done.
    pub(super) async fn run(&self, message: Message) {
        let headers = message.headers.as_ref();
        let job = header(headers, JOB).and_then(|id| JobId::parse(id).ok()).filter(|job| job.tool() == self.tool.name);
        let Some(job) = job else {
            tracing::warn!(tool = self.tool.name, "a message in the queue is not a job");
            return acknowledge(&message, AckKind::Term).await;
        };
        match self.claim(&job, &message).await {
            Ok(JobClaim::Own { attempt }) => {
                let token = CancellationToken::new();
                let _running = self.shared.running.register(job.as_str(), &token);
                let done = async {
                    let result = self.work(&job, &message, attempt, &token).await;
                    self.finish(&job, attempt, result).await
                };
                if !self.shared.work.track_future(done).await {
                    // Not acknowledged: the next delivery finds that the job was started.
                    return;
                }
            }
            Ok(JobClaim::Other) => {
                // The next delivery checks whether the other worker has finished.
                return acknowledge(&message, AckKind::Nak(Some(self.store.options.heartbeat_timeout))).await;
            }
            Ok(JobClaim::Duplicate) => return acknowledge(&message, AckKind::Ack).await,
            Ok(JobClaim::Finished) => {}
            Err(error) => {
                tracing::warn!(%job, %error, "cannot claim a job; it will be delivered again");
                return acknowledge(&message, AckKind::Nak(Some(RETRY_DELAY))).await;
            }
        }
        acknowledge(&message, AckKind::Ack).await;
        self.store.announce_end(&job).await;
    }

    /// Claims a job. If a worker that is now silent had started it, the journal decides first; without a record, only a
    /// job that may be repeated runs again.
    async fn claim(&self, job: &JobId, message: &Message) -> Result<JobClaim, NatsError> {
        let may_repeat = header(message.headers.as_ref(), REPEAT).is_some() && self.tool.repeatable;
        let info = message.info().map_err(NatsError::nats("read a job"))?;
        loop {
            let Some((state, revision)) = self.store.read(job).await? else {
                return if info.delivered < MAX_UNRECORDED { Err(unrecorded()) } else { Ok(JobClaim::Finished) };
            };
            let (attempt, result) = match state {
                JobState::Done { .. } => return Ok(JobClaim::Finished),
                JobState::Waiting => (1, None),
                JobState::Running { message, .. } if message != info.stream_sequence => return Ok(JobClaim::Duplicate),
                // This worker was silent for too long, but is still running it.
                JobState::Running { .. } if self.shared.running.contains(job.as_str()) => return Ok(JobClaim::Other),
                JobState::Running { worker, attempt, stop, .. } => match self.recorded_run(message).await {
                    RecordedRun::Running => return Ok(JobClaim::Other),
                    RecordedRun::Completed(result) => (attempt, Some(result)),
                    RecordedRun::Unknown if !may_repeat => (attempt, Some(self.unknown(&worker))),
                    RecordedRun::Unknown if stop => (attempt, Some(self.cancelled(&worker))),
                    RecordedRun::Unknown if attempt >= MAX_STARTS => (attempt, Some(self.too_many_starts(attempt))),
                    RecordedRun::Unknown => (attempt + 1, None),
                },
            };
            let (next, claim) = match result {
                Some(result) => {
                    (JobState::Done { result: self.store.store_result(job, &result).await? }, JobClaim::Finished)
                }
                None => {
                    let (message, worker) = (info.stream_sequence, self.shared.id.clone());
                    (JobState::Running { message, worker, attempt, stop: false }, JobClaim::Own { attempt })
                }
            };
            if self.store.write(job, &next, revision).await? {
                return Ok(claim);
            }
        }
    }

    /// Looks up a job that was started elsewhere in the journal, which helps only if it is shared with the other
    /// worker, such as by workers on one machine.
    async fn recorded_run(&self, message: &Message) -> RecordedRun {
        let headers = CallHeaders::read(message.headers.as_ref());
        let Ok(arguments) = std::str::from_utf8(&message.payload) else { return RecordedRun::Unknown };
        let result = self.shared.dispatcher.call(headers.call(&self.tool.name, arguments)).replay().await;
        match result.error.as_ref().map(|error| error.kind) {
            _ if result.metadata.get("replayed").is_some() => RecordedRun::Completed(result),
            Some(ErrorKind::Busy) => RecordedRun::Running,
            _ => RecordedRun::Unknown,
        }
    }

    fn unknown(&self, worker: &str) -> ToolResult {
        let message = format!(
            "`{}` was started by worker {worker}, which was lost: it may have taken effect. Check before you call it again.",
            self.tool.name
        );
        ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, message))
    }

    fn cancelled(&self, worker: &str) -> ToolResult {
        let message = format!("`{}` was cancelled. Worker {worker}, which had started it, was lost.", self.tool.name);
        ToolResult::failure(ToolError::new(ErrorKind::Cancelled, message))
    }

    fn too_many_starts(&self, attempts: u32) -> ToolResult {
        let message = format!(
            "`{}` was started {attempts} times, and its worker was lost each time: it may have taken effect, and may be the cause.",
            self.tool.name
        );
        ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, message))
    }

    /// Runs the call.
    async fn work(&self, job: &JobId, message: &Message, attempt: u32, token: &CancellationToken) -> ToolResult {
        let result = self.call(job, message, None, token).await;
        let is_unknown =
            |result: &ToolResult| result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::OutcomeUnknown);
        if attempt > 1 && is_unknown(&result) {
            // The journal has an unfinished record of the first attempt. This job may be repeated, so use another call
            // id.
            return self.call(job, message, Some(attempt), token).await;
        }
        result
    }

    async fn call(
        &self,
        job: &JobId,
        message: &Message,
        attempt: Option<u32>,
        token: &CancellationToken,
    ) -> ToolResult {
        let Ok(arguments) = std::str::from_utf8(&message.payload) else {
            let message = format!("Invalid arguments for `{}`: they are not valid UTF-8.", self.tool.name);
            return ToolResult::failure(ToolError::new(ErrorKind::InvalidArguments, message));
        };
        let mut headers = CallHeaders::read(message.headers.as_ref());
        if let (Some(attempt), Some(id)) = (attempt, &headers.id) {
            headers.id = Some(format!("{id}~{attempt}").into());
        }
        let mut call = self.shared.dispatcher.call(headers.call(&self.tool.name, arguments)).cancel(token.clone());
        if self.tool.sensitive && headers.approved && self.shared.trusts_approvals {
            call = call.confirm(ApprovedByCaller);
        }
        // Concurrently: the call continues while the server cannot be reached.
        tokio::select! {
            biased;
            result = call => result,
            never = self.heartbeat(job, message, token) => match never {},
        }
    }

    /// Sends heartbeats, and cancels the job if requested.
    async fn heartbeat(&self, job: &JobId, message: &Message, token: &CancellationToken) -> Infallible {
        let mut beat = interval(CANCEL_CHECK_INTERVAL.min(self.store.options.heartbeat_timeout / 3));
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beat.tick().await;
            acknowledge(message, AckKind::Progress).await;
            if self.is_cancelled(job).await {
                token.cancel();
            }
        }
    }

    async fn is_cancelled(&self, job: &JobId) -> bool {
        matches!(self.store.read(job).await, Ok(Some((JobState::Running { stop: true, .. }, _))))
    }

    /// Records a result. Returns `false` if that failed. Ignored if another worker has taken over.
    async fn finish(&self, job: &JobId, attempt: u32, result: ToolResult) -> bool {
        let tries = async {
            for _ in 0..RECORD_ATTEMPTS {
                match self.record(job, attempt, &result).await {
                    Ok(()) => return true,
                    Err(error) => tracing::debug!(%job, %error, "cannot record a result, retrying"),
                }
                sleep(RETRY_DELAY).await;
            }
            false
        };
        let is_recorded = timeout(RECORD_TIMEOUT, tries).await.unwrap_or(false);
        if !is_recorded {
            tracing::error!(%job, "cannot record the result of a job");
        }
        is_recorded
    }

    async fn record(&self, job: &JobId, own_attempt: u32, result: &ToolResult) -> Result<(), NatsError> {
        let stored = self.store.store_result(job, result).await?;
        loop {
            let (state, revision) = self.store.read(job).await?.ok_or_else(unrecorded)?;
            let is_own = matches!(&state, JobState::Running { worker, attempt, .. } if *worker == self.shared.id && *attempt == own_attempt);
            if !is_own {
                tracing::warn!(%job, "a job finished after its worker was considered lost");
                return Ok(());
            }
            if self.store.write(job, &JobState::Done { result: stored.clone() }, revision).await? {
                return Ok(());
            }
        }
    }
}

fn unrecorded() -> NatsError {
    NatsError::Nats { doing: "read the record of a job", source: "there is no record".into() }
}

async fn acknowledge(message: &Message, kind: AckKind) {
    if let Err(error) = message.ack_with(kind).await {
        tracing::debug!(%error, "cannot acknowledge a job");
    }
}
