//! What is sent, in the order in which it was said.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// The way out. Messages that come while others are being written go together, at once.
pub(super) struct Out<W> {
    waiting: Mutex<Vec<u8>>,
    /// None once it is closed, or has failed.
    stream: tokio::sync::Mutex<Option<W>>,
}

impl<W> Out<W> {
    pub(super) fn new(stream: W) -> Self {
        Self { waiting: Mutex::default(), stream: tokio::sync::Mutex::new(Some(stream)) }
    }

    /// Takes a message. It goes with the next [`flush`](Self::flush).
    pub(super) fn push(&self, message: &impl Serialize) -> io::Result<()> {
        let mut waiting = self.waiting();
        let before = waiting.len();
        if let Err(error) = serde_json::to_writer(&mut *waiting, message) {
            waiting.truncate(before);
            return Err(error.into());
        }
        waiting.push(b'\n');
        Ok(())
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<u8>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: AsyncWrite + Unpin> Out<W> {
    /// Writes what waits, unless somebody else has.
    pub(super) async fn flush(&self) -> io::Result<()> {
        let mut place = self.stream.lock().await;
        let stream = place.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        let waiting = std::mem::take(&mut *self.waiting());
        if waiting.is_empty() {
            return Ok(());
        }
        let written = match stream.write_all(&waiting).await {
            Ok(()) => stream.flush().await,
            failed => failed,
        };
        if written.is_err() {
            // Of what was taken others may wait to hear, and they hear of it here.
            *place = None;
        }
        written
    }

    pub(super) async fn close(&self) {
        if let Some(mut stream) = self.stream.lock().await.take() {
            // Whoever reads may be gone already.
            drop(stream.shutdown().await);
        }
    }
}
