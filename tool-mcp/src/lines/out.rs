//! What is sent, in the order in which it was said.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// The way out. Messages that come while others are being written go together, at once.
pub(super) struct Out<W> {
    /// What waits to be written; nothing once nothing can be.
    waiting: Mutex<Option<Vec<u8>>>,
    /// None once it is closed, or has failed, and while it is written to: a write that was given up in the middle has
    /// failed, too.
    stream: tokio::sync::Mutex<Option<W>>,
}

impl<W> Out<W> {
    pub(super) fn new(stream: W) -> Self {
        Self { waiting: Mutex::new(Some(Vec::new())), stream: tokio::sync::Mutex::new(Some(stream)) }
    }

    /// Takes a message. It goes with the next [`flush`](Self::flush).
    pub(super) fn push(&self, message: &impl Serialize) -> io::Result<()> {
        let mut waiting = self.waiting();
        let waiting = waiting.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        let before = waiting.len();
        if let Err(error) = serde_json::to_writer(&mut *waiting, message) {
            waiting.truncate(before);
            return Err(error.into());
        }
        waiting.push(b'\n');
        Ok(())
    }

    fn waiting(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: AsyncWrite + Unpin> Out<W> {
    /// Writes what waits, unless somebody else has. Of what was taken others may wait to hear; if it fails, they hear of
    /// it when they come here.
    pub(super) async fn flush(&self) -> io::Result<()> {
        let mut place = self.stream.lock().await;
        let Some(mut stream) = place.take() else {
            *self.waiting() = None;
            return Err(io::ErrorKind::NotConnected.into());
        };
        let waiting = self.waiting().as_mut().map(std::mem::take).unwrap_or_default();
        if !waiting.is_empty()
            && let Err(error) = write(&mut stream, &waiting).await
        {
            *self.waiting() = None;
            return Err(error);
        }
        *place = Some(stream);
        Ok(())
    }

    pub(super) async fn close(&self) {
        let stream = self.stream.lock().await.take();
        *self.waiting() = None;
        if let Some(mut stream) = stream {
            // Whoever reads may be gone already.
            drop(stream.shutdown().await);
        }
    }
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, duplex};

    use super::*;

    #[tokio::test]
    async fn what_cannot_be_written_is_not_kept() {
        let (near, far) = duplex(64);
        let out = Out::new(near);
        out.push(&1).unwrap();
        out.flush().await.unwrap();
        drop(far);
        out.push(&2).unwrap();
        out.push(&3).unwrap();
        out.flush().await.unwrap_err();
        assert!(out.flush().await.is_err(), "whoever has said 3 hears of it");
        out.push(&4).unwrap_err();
        assert!(out.waiting().is_none());
    }

    #[tokio::test]
    async fn a_write_that_was_given_up_is_the_last() {
        let (near, mut far) = duplex(4);
        let out = Out::new(near);
        out.push(&"longer than the pipe").unwrap();
        tokio::select! {
            biased;
            _ = out.flush() => panic!("it cannot be written"),
            () = std::future::ready(()) => {}
        }
        out.push(&"next").unwrap();
        out.flush().await.unwrap_err();
        assert!(out.waiting().is_none());
        let mut written = Vec::new();
        far.read_to_end(&mut written).await.unwrap();
        assert_eq!(written, b"\"lon", "nothing follows half a line");
    }

    #[tokio::test]
    async fn closed_it_takes_nothing() {
        let (near, mut far) = duplex(64);
        let out = Out::new(near);
        out.close().await;
        out.push(&1).unwrap_err();
        let mut written = Vec::new();
        far.read_to_end(&mut written).await.unwrap();
        assert!(written.is_empty());
    }
}
