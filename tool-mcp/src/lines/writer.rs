//! A queue of outgoing lines.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// Writes messages in the order in which they were pushed. Messages that are pushed during a write are written together
/// by the next one; each sender learns whether its own message was written.
pub(super) struct LineWriter<W> {
    queue: Mutex<WriteQueue>,
    /// `None` once the stream is closed or has failed, and during a write: a cancelled write may have written half a
    /// line, so it counts as a failure.
    stream: tokio::sync::Mutex<Option<W>>,
}

/// A position in the outgoing stream, in bytes.
type Offset = u64;

#[derive(Default)]
struct WriteQueue {
    pending: Vec<u8>,
    /// The offset of the end of `pending`.
    end: Offset,
    /// The offset up to which bytes were written.
    written: Offset,
    is_closed: bool,
}

impl<W> LineWriter<W> {
    pub(super) fn new(stream: W) -> Self {
        Self { queue: Mutex::default(), stream: tokio::sync::Mutex::new(Some(stream)) }
    }

    /// Queues a message and returns the offset of its end, for [`flush`](Self::flush).
    pub(super) fn push(&self, message: &impl Serialize) -> io::Result<Offset> {
        let mut queue = self.queue();
        if queue.is_closed {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let before = queue.pending.len();
        if let Err(error) = serde_json::to_writer(&mut queue.pending, message) {
            queue.pending.truncate(before);
            return Err(error.into());
        }
        queue.pending.push(b'\n');
        queue.end += (queue.pending.len() - before) as Offset;
        Ok(queue.end)
    }

    fn queue(&self) -> MutexGuard<'_, WriteQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rejects further messages and drops the pending ones.
    fn fail(&self) {
        let mut queue = self.queue();
        queue.is_closed = true;
        queue.pending = Vec::new();
    }
}

impl<W: AsyncWrite + Unpin> LineWriter<W> {
    /// Writes everything up to an offset, unless another task already has. An error means that it was not written.
    pub(super) async fn flush(&self, end: Offset) -> io::Result<()> {
        let mut slot = self.stream.lock().await;
        if self.queue().written >= end {
            return Ok(());
        }
        let Some(mut stream) = slot.take() else {
            self.fail();
            return Err(io::ErrorKind::NotConnected.into());
        };
        let pending = std::mem::take(&mut self.queue().pending);
        match self.write(&mut stream, &pending).await {
            Ok(()) => *slot = Some(stream),
            Err(error) => {
                self.fail();
                if self.queue().written < end {
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
            self.queue().written += written as Offset;
            bytes = &bytes[written..];
        }
        stream.flush().await
    }

    pub(super) async fn close(&self) {
        let stream = self.stream.lock().await.take();
        self.fail();
        if let Some(mut stream) = stream {
            // The reader may be gone already.
            drop(stream.shutdown().await);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, duplex};

    use super::*;

    #[tokio::test]
    async fn drops_pending_messages_after_a_write_error() {
        let (near, far) = duplex(64);
        let writer = LineWriter::new(near);
        let one = writer.push(&1).unwrap();
        writer.flush(one).await.unwrap();
        drop(far);
        let (two, three) = (writer.push(&2).unwrap(), writer.push(&3).unwrap());
        writer.flush(two).await.unwrap_err();
        assert!(writer.flush(three).await.is_err(), "the sender of 3 sees the error");
        assert!(writer.flush(one).await.is_ok(), "1 was written");
        writer.push(&4).unwrap_err();
        assert!(writer.queue().pending.is_empty());
    }

    /// The reader may have acted on it.
    #[tokio::test]
    async fn reports_a_message_as_written_if_the_failure_came_after_it() {
        let (near, mut far) = duplex(4);
        let writer = LineWriter::new(near);
        let (first, second) = (writer.push(&100).unwrap(), writer.push(&"longer than the pipe").unwrap());
        let read = async {
            let mut line = [0; 4];
            far.read_exact(&mut line).await.unwrap();
            drop(far);
        };
        let (sent, ()) = tokio::join!(writer.flush(first), read);
        sent.unwrap();
        writer.flush(second).await.unwrap_err();
    }

    #[tokio::test]
    async fn closes_after_a_cancelled_write() {
        let (near, mut far) = duplex(4);
        let writer = LineWriter::new(near);
        let first = writer.push(&"longer than the pipe").unwrap();
        tokio::select! {
            biased;
            _ = writer.flush(first) => panic!("the pipe is too small"),
            () = std::future::ready(()) => {}
        }
        let next = writer.push(&"next").unwrap();
        writer.flush(next).await.unwrap_err();
        assert!(writer.queue().pending.is_empty());
        let mut written = Vec::new();
        far.read_to_end(&mut written).await.unwrap();
        assert_eq!(written, b"\"lon", "nothing follows half a line");
    }

    #[tokio::test]
    async fn rejects_messages_after_close() {
        let (near, mut far) = duplex(64);
        let writer = LineWriter::new(near);
        writer.close().await;
        writer.push(&1).unwrap_err();
        let mut written = Vec::new();
        far.read_to_end(&mut written).await.unwrap();
        assert!(written.is_empty());
    }
}
