//! Ctrl-C handling while a tool runs.

use std::io;

use super::CliExit;
use crate::CancellationToken;

/// Returns a token that the next Ctrl-C cancels. The one after that exits the process.
pub(super) fn token() -> CancellationToken {
    let stop = CancellationToken::new();
    if let Err(error) = watch(stop.clone()) {
        tracing::warn!(%error, "cannot handle Ctrl-C: it will end the process without a rollback");
    }
    stop
}

/// Waits for Ctrl-C on a separate thread. A tool may block the runtime's threads, and dropping the runtime waits for such
/// a tool. Without this thread, the first Ctrl-C ends the process.
fn watch(stop: CancellationToken) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut interrupts = {
        let _in_runtime = runtime.enter();
        interrupts()?
    };
    let watch = async move {
        while interrupts.recv().await.is_some() {
            if stop.is_cancelled() {
                std::process::exit(CliExit::Aborted as i32);
            }
            stop.cancel();
        }
    };
    std::thread::Builder::new().name("tools ctrl-c".to_owned()).spawn(move || runtime.block_on(watch)).map(drop)
}

#[cfg(unix)]
fn interrupts() -> io::Result<tokio::signal::unix::Signal> {
    tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
}

#[cfg(windows)]
fn interrupts() -> io::Result<tokio::signal::windows::CtrlC> {
    tokio::signal::windows::ctrl_c()
}

#[cfg(not(any(unix, windows)))]
fn interrupts() -> io::Result<tokio::sync::mpsc::Receiver<()>> {
    Err(io::ErrorKind::Unsupported.into())
}
