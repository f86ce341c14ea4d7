//! How a worker does a job that it was given.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::{AckKind, Message};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tool_runtime::{CancellationToken, ErrorKind, ToolError, ToolResult};

use super::JobId;
use super::record::State;
use super::store::Store;
use crate::Error;
use crate::wire::{CallHeaders, JOB, REPEAT, header};
use crate::worker::{Confirmed, Shared, Tool};

/// How long to wait before trying again when the server cannot be asked.
const RETRY: Duration = Duration::from_millis(500);

/// How often somebody is asked for who wants a job stopped.
const LOOK: Duration = Duration::from_secs(1);

/// How often a result is tried to be recorded.
const TRIES: u32 = 60;

/// How long all tries may take: while the server is away, what it is asked may wait for ever to be sent.
const PATIENCE: Duration = Duration::from_secs(300);

/// How often a job is begun at most: one that kills its worker would kill one after another.
const ATTEMPTS: u32 = 5;

/// How often a job is delivered at most that is not on record: the server that was asked may be behind.
const UNRECORDED: i64 = 10;

/// Does the jobs of one tool.
#[derive(Clone)]
pub(super) struct Hand {
    pub(super) store: Arc<Store>,
    pub(super) shared: Arc<Shared>,
    pub(super) tool: Arc<Tool>,
}

/// Whose a job is that was delivered.
enum Claim {
    /// That of this worker, which begins it for the so-manieth time.
    Mine { attempt: u32 },
    /// That of one that has it in its hands.
    Anothers,
    /// That of whoever has claimed it by another message.
    Duplicate,
    /// Nobody's any more.
    Over,
}

/// What is on record of a job whose worker is not heard of any more.
enum Left {
    /// It completed.
    Completed(ToolResult),
    /// Its process is there and at it.
    Running,
    /// Nobody knows.
    Unknown,
}

impl Hand {
    /// How many connections were made to the server until now.
    pub(super) fn connects(&self) -> u64 {
        self.shared.client.statistics().connects.load(Ordering::Relaxed)
    }

    /// Does a job, if it is still to be done.
    pub(super) async fn run(&self, message: Message) {
        let headers = message.headers.as_ref();
        let job = header(headers, JOB).and_then(|id| JobId::parse(id).ok()).filter(|job| job.tool() == self.tool.name);
        let Some(job) = job else {
            tracing::warn!(tool = self.tool.name, "a message in the queue is no job");
            return acknowledge(&message, AckKind::Term).await;
        };
        match self.claim(&job, &message).await {
            Ok(Claim::Mine { attempt }) => {
                let token = CancellationToken::new();
                let _running = self.shared.running.enter(job.as_str(), &token);
                let done = async {
                    let result = self.work(&job, &message, attempt, &token).await;
                    self.finish(&job, attempt, result).await
                };
                if !self.shared.work.track_future(done).await {
                    // Delivered again, it will be seen that it was begun.
                    return;
                }
            }
            Ok(Claim::Anothers) => {
                // Delivered again, it is seen whether that one has ended meanwhile.
                return acknowledge(&message, AckKind::Nak(Some(self.store.options.silence))).await;
            }
            Ok(Claim::Duplicate) => return acknowledge(&message, AckKind::Ack).await,
            Ok(Claim::Over) => {}
            Err(error) => {
                tracing::warn!(%job, %error, "a job cannot be begun; it will be delivered again");
                return acknowledge(&message, AckKind::Nak(Some(RETRY))).await;
            }
        }
        acknowledge(&message, AckKind::Ack).await;
        self.store.tell_end(&job).await;
    }

    /// Takes a job, so that nobody else does. One that was begun before by a worker that is not heard of any more is not
    /// simply done once more: what became of it may be known, and otherwise only what may be repeated runs again.
    async fn claim(&self, job: &JobId, message: &Message) -> Result<Claim, Error> {
        let may_repeat = header(message.headers.as_ref(), REPEAT).is_some() && self.tool.repeatable;
        let info = message.info().map_err(Error::nats("read a job"))?;
        loop {
            let Some((state, revision)) = self.store.read(job).await? else {
                return if info.delivered < UNRECORDED { Err(unrecorded()) } else { Ok(Claim::Over) };
            };
            let (attempt, result) = match state {
                State::Done { .. } => return Ok(Claim::Over),
                State::Waiting => (1, None),
                State::Running { message, .. } if message != info.stream_sequence => return Ok(Claim::Duplicate),
                // It was silent for too long, and is at it all the same.
                State::Running { .. } if self.shared.running.has(job.as_str()) => return Ok(Claim::Anothers),
                State::Running { worker, attempt, stop, .. } => match self.left(message).await {
                    Left::Running => return Ok(Claim::Anothers),
                    Left::Completed(result) => (attempt, Some(result)),
                    Left::Unknown if !may_repeat => (attempt, Some(self.unknown(&worker))),
                    Left::Unknown if stop => (attempt, Some(self.cancelled(&worker))),
                    Left::Unknown if attempt >= ATTEMPTS => (attempt, Some(self.given_up(attempt))),
                    Left::Unknown => (attempt + 1, None),
                },
            };
            let (next, claim) = match result {
                Some(result) => (State::Done { result: self.store.keep(job, &result).await? }, Claim::Over),
                None => {
                    let (message, worker) = (info.stream_sequence, self.shared.id.clone());
                    (State::Running { message, worker, attempt, stop: false }, Claim::Mine { attempt })
                }
            };
            if self.store.write(job, &next, revision).await? {
                return Ok(claim);
            }
        }
    }

    /// What the journal says of a job that was begun elsewhere. It can say something only if it is shared with whoever
    /// began it, as by workers on one machine.
    async fn left(&self, message: &Message) -> Left {
        let headers = CallHeaders::read(message.headers.as_ref());
        let Ok(arguments) = std::str::from_utf8(&message.payload) else { return Left::Unknown };
        let result = self.shared.dispatcher.call(headers.call(&self.tool.name, arguments)).replay().await;
        match result.error.as_ref().map(|error| error.kind) {
            _ if result.metadata.get("replayed").is_some() => Left::Completed(result),
            Some(ErrorKind::Busy) => Left::Running,
            _ => Left::Unknown,
        }
    }

    fn unknown(&self, worker: &str) -> ToolResult {
        let message = format!(
            "`{}` was begun by the worker {worker}, which was lost: it may have taken effect. Look before you call it again.",
            self.tool.name
        );
        ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, message))
    }

    fn cancelled(&self, worker: &str) -> ToolResult {
        let message = format!("`{}` was cancelled. The worker {worker}, which had begun it, was lost.", self.tool.name);
        ToolResult::failure(ToolError::new(ErrorKind::Cancelled, message))
    }

    fn given_up(&self, attempts: u32) -> ToolResult {
        let message = format!(
            "`{}` was begun {attempts} times, and each time its worker was lost: it may have taken effect, and may be why.",
            self.tool.name
        );
        ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, message))
    }

    /// Runs the call, and says meanwhile that it runs.
    async fn work(&self, job: &JobId, message: &Message, attempt: u32, token: &CancellationToken) -> ToolResult {
        let result = self.call(job, message, None, token).await;
        let is_unknown =
            |result: &ToolResult| result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::OutcomeUnknown);
        if attempt > 1 && is_unknown(&result) {
            // A journal knows that the first attempt was left in the middle. This one may run all the same.
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
            let message = format!("Invalid arguments for `{}`: they are no text.", self.tool.name);
            return ToolResult::failure(ToolError::new(ErrorKind::InvalidArguments, message));
        };
        let mut headers = CallHeaders::read(message.headers.as_ref());
        if let (Some(attempt), Some(id)) = (attempt, &headers.id) {
            headers.id = Some(format!("{id}~{attempt}").into());
        }
        let mut call = self.shared.dispatcher.call(headers.call(&self.tool.name, arguments)).cancel(token.clone());
        if self.tool.sensitive && headers.consent && self.shared.trusts_consent {
            call = call.confirm(Confirmed);
        }
        // Beside each other: the call goes on while the server cannot be asked.
        tokio::select! {
            biased;
            result = call => result,
            never = self.beat(job, message, token) => match never {},
        }
    }

    /// Says again and again that a job runs, and stops it if somebody wants that.
    async fn beat(&self, job: &JobId, message: &Message, token: &CancellationToken) -> Infallible {
        let mut beat = interval(LOOK.min(self.store.options.silence / 3));
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beat.tick().await;
            acknowledge(message, AckKind::Progress).await;
            if self.is_to_stop(job).await {
                token.cancel();
            }
        }
    }

    async fn is_to_stop(&self, job: &JobId) -> bool {
        matches!(self.store.read(job).await, Ok(Some((State::Running { stop: true, .. }, _))))
    }

    /// Records a result, whether it could be. It counts only as long as nobody else has taken this worker to be lost.
    async fn finish(&self, job: &JobId, attempt: u32, result: ToolResult) -> bool {
        let tries = async {
            for _ in 0..TRIES {
                match self.record(job, attempt, &result).await {
                    Ok(()) => return true,
                    Err(error) => tracing::debug!(%job, %error, "a result cannot be recorded at the moment"),
                }
                sleep(RETRY).await;
            }
            false
        };
        let is_recorded = timeout(PATIENCE, tries).await.unwrap_or(false);
        if !is_recorded {
            tracing::error!(%job, "the result of a job could not be recorded");
        }
        is_recorded
    }

    async fn record(&self, job: &JobId, mine: u32, result: &ToolResult) -> Result<(), Error> {
        let kept = self.store.keep(job, result).await?;
        loop {
            let (state, revision) = self.store.read(job).await?.ok_or_else(unrecorded)?;
            let is_mine = matches!(&state, State::Running { worker, attempt, .. } if *worker == self.shared.id && *attempt == mine);
            if !is_mine {
                tracing::warn!(%job, "a job was done after its worker was taken to be lost");
                return Ok(());
            }
            if self.store.write(job, &State::Done { result: kept.clone() }, revision).await? {
                return Ok(());
            }
        }
    }
}

fn unrecorded() -> Error {
    Error::Nats { doing: "read the record of a job", source: "there is none yet, or none any more".into() }
}

async fn acknowledge(message: &Message, kind: AckKind) {
    if let Err(error) = message.ack_with(kind).await {
        tracing::debug!(%error, "a job could not be acknowledged");
    }
}
