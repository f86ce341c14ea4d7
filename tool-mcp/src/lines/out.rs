//! What is sent, in the order in which it was said.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// The way out. Messages that come while others are being written go together, at once; each is told what became of
/// itself.
pub(super) struct Out<W> {
    said: Mutex<Said>,
    /// None once it is closed, or has failed, and while it is written to: a write that was given up in the middle has
    /// failed, too.
    stream: tokio::sync::Mutex<Option<W>>,
}

/// A place in all that is ever sent, in bytes.
type Place = u64;

#[derive(Default)]
struct Said {
    waiting: Vec<u8>,
    /// Where what waits ends.
    end: Place,
    /// Up to where it was written.
    written: Place,
    /// Whether nothing can be written any more.
    is_over: bool,
}

impl<W> Out<W> {
    pub(super) fn new(stream: W) -> Self {
        Self { said: Mutex::default(), stream: tokio::sync::Mutex::new(Some(stream)) }
    }

    /// Takes a message. It goes with the next [`flush`](Self::flush), which is told where it ends.
    pub(super) fn push(&self, message: &impl Serialize) -> io::Result<Place> {
        let mut said = self.said();
        if said.is_over {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let before = said.waiting.len();
        if let Err(error) = serde_json::to_writer(&mut said.waiting, message) {
            said.waiting.truncate(before);
            return Err(error.into());
        }
        said.waiting.push(b'\n');
        said.end += (said.waiting.len() - before) as Place;
        Ok(said.end)
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing is kept that cannot be written.
    fn is_over(&self) {
        let mut said = self.said();
        said.is_over = true;
        said.waiting = Vec::new();
    }
}

impl<W: AsyncWrite + Unpin> Out<W> {
    /// Sees to it that all is written up to a place, unless somebody else has. An error means that it was not.
    pub(super) async fn flush(&self, end: Place) -> io::Result<()> {
        let mut place = self.stream.lock().await;
        if self.said().written >= end {
            return Ok(());
        }
        let Some(mut stream) = place.take() else {
            self.is_over();
            return Err(io::ErrorKind::NotConnected.into());
        };
        let waiting = std::mem::take(&mut self.said().waiting);
        match self.write(&mut stream, &waiting).await {
            Ok(()) => *place = Some(stream),
            Err(error) => {
                self.is_over();
                if self.said().written < end {
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    async fn write(&self, stream: &mut W, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = stream.write(bytes).await?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.said().written += written as Place;
            bytes = &bytes[written..];
        }
        stream.flush().await
    }

    pub(super) async fn close(&self) {
        let stream = self.stream.lock().await.take();
        self.is_over();
        if let Some(mut stream) = stream {
            // Whoever reads may be gone already.
            drop(stream.shutdown().await);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, duplex};

    use super::*;

    #[tokio::test]
    async fn what_cannot_be_written_is_not_kept() {
        let (near, far) = duplex(64);
        let out = Out::new(near);
        let one = out.push(&1).unwrap();
        out.flush(one).await.unwrap();
        drop(far);
        let (two, three) = (out.push(&2).unwrap(), out.push(&3).unwrap());
        out.flush(two).await.unwrap_err();
        assert!(out.flush(three).await.is_err(), "whoever has said 3 hears of it");
        assert!(out.flush(one).await.is_ok(), "and whoever has said 1 that it was heard");
        out.push(&4).unwrap_err();
        assert!(out.said().waiting.is_empty());
    }

    /// Who read it may have done it.
    #[tokio::test]
    async fn what_was_written_before_it_failed_was_written() {
        let (near, mut far) = duplex(4);
        let out = Out::new(near);
        let (first, second) = (out.push(&100).unwrap(), out.push(&"longer than the pipe").unwrap());
        let read = async {
            let mut line = [0; 4];
            far.read_exact(&mut line).await.unwrap();
            drop(far);
        };
        let (sent, ()) = tokio::join!(out.flush(first), read);
        sent.unwrap();
        out.flush(second).await.unwrap_err();
    }

    #[tokio::test]
    async fn a_write_that_was_given_up_is_the_last() {
        let (near, mut far) = duplex(4);
        let out = Out::new(near);
        let first = out.push(&"longer than the pipe").unwrap();
        tokio::select! {
            biased;
            _ = out.flush(first) => panic!("it cannot be written"),
            () = std::future::ready(()) => {}
        }
        let next = out.push(&"next").unwrap();
        out.flush(next).await.unwrap_err();
        assert!(out.said().waiting.is_empty());
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
