//! Ctrl-C while a tool runs.

use std::io;

use super::Exit;
use crate::CancellationToken;

/// Returns a token that is cancelled at the first Ctrl-C from now on. One that comes after that ends the process.
pub(super) fn token() -> CancellationToken {
    let stop = CancellationToken::new();
    if let Err(error) = watch(stop.clone()) {
        tracing::warn!(%error, "Ctrl-C will end the program without a rollback");
    }
    stop
}

/// Waits for Ctrl-C on a thread of its own: a tool may block the threads of the runtime, and the runtime waits for such a
/// tool when it is dropped. A process that cannot have the thread ends at the first Ctrl-C, as any other.
fn watch(stop: CancellationToken) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut interrupts = {
        let _in_runtime = runtime.enter();
        interrupts()?
    };
    let watch = async move {
        while interrupts.recv().await.is_some() {
            if stop.is_cancelled() {
                std::process::exit(Exit::Aborted as i32);
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
