//! One command, from its start until nothing of it is left.

use std::pin::pin;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::time::{sleep, timeout};
use tool_runtime::{CancellationToken, Progress};

use super::confine::Confinement;
use super::output::{Reading, Transcript};
use super::prepare::Started;

/// How long is waited, after the end, for what is still in the pipes, and for what cannot be ended at once.
const DRAIN: Duration = Duration::from_secs(2);

/// What became of a command.
pub(super) struct Finished {
    pub ending: Ending,
    pub transcript: Transcript,
    /// Whether a process still held the pipes when the waiting was over: one that was handed them from elsewhere.
    pub pipes_held: bool,
    /// Whether a process may be left that the kernel could not end in time.
    pub left_over: bool,
    pub confinement: Confinement,
}

/// How a command came to its end.
pub(super) enum Ending {
    /// By itself. Without a status its supervisor was killed.
    Exited(Option<ExitStatus>),
    TimedOut(Duration),
    Cancelled,
}

/// Runs a command for as long as it may. Dropped, it ends it.
pub(super) async fn run(
    started: Started,
    limit: Duration,
    output_limit: usize,
    cancellation: &CancellationToken,
    progress: &Progress,
) -> Finished {
    let Started { mut tree, stdout, stderr, confinement } = started;
    let mut reading = Reading::new(stdout, stderr, output_limit, progress);
    let mut ending = tokio::select! {
        status = while_reading(&mut reading, tree.gone()) => Ending::Exited(status),
        () = sleep(limit) => Ending::TimedOut(limit),
        () = cancellation.cancelled() => Ending::Cancelled,
    };
    let mut left_over = false;
    if !matches!(ending, Ending::Exited(_)) {
        tree.end();
        match timeout(DRAIN, while_reading(&mut reading, tree.gone())).await {
            // It was just about to end by itself.
            Ok(Some(status)) => ending = Ending::Exited(Some(status)),
            Ok(None) => {}
            Err(_) => left_over = true,
        }
    }
    let pipes_held = timeout(DRAIN, reading.read()).await.is_err();
    if !left_over {
        tree.clean_up().await;
    }
    Finished { ending, transcript: reading.finish(), pipes_held, left_over, confinement }
}

/// Waits for something, and reads what is printed meanwhile.
async fn while_reading<T>(reading: &mut Reading<'_>, awaited: impl Future<Output = T>) -> T {
    let mut awaited = pin!(awaited);
    tokio::select! {
        value = &mut awaited => return value,
        () = reading.read() => {}
    }
    awaited.await
}
