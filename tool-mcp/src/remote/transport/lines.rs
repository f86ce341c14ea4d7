//! One message a line, over two streams.

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tool_runtime::CancellationToken;

use super::read;
use super::skim::Skim;
use super::wire::{TOO_LONG, UNREADABLE};

/// Two streams with one message a line. A line that is too long is not kept: what is in it is looked through for the
/// call that it answers, and that call fails.
pub(in crate::remote) struct Lines<R, W, K> {
    read: BufReader<R>,
    /// The line so far. It lives here and not in `receive`, which is dropped whenever something else happens.
    line: Vec<u8>,
    /// What goes through the rest of a line that is too long.
    skim: Option<Skim>,
    longest: usize,
    write: Arc<Mutex<Option<W>>>,
    /// Whether what is being written is given up.
    closed: CancellationToken,
    /// What has to live as long as the streams do.
    keep: K,
}

/// What is at the other end, and has to be ended.
pub(in crate::remote) trait Keep: Send {
    fn end(&mut self) -> impl Future<Output = io::Result<()>> + Send;
}

impl Keep for () {
    async fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<R: AsyncRead + Unpin, W, K> Lines<R, W, K> {
    pub(in crate::remote) fn new(read: R, write: W, longest: usize, keep: K) -> Self {
        let (read, write) = (BufReader::new(read), Arc::new(Mutex::new(Some(write))));
        Self { read, line: Vec::new(), skim: None, longest, write, closed: CancellationToken::new(), keep }
    }

    /// The next message, or nothing if the line was none. An error is the end.
    async fn next(&mut self) -> io::Result<Option<ServerJsonRpcMessage>> {
        loop {
            let bytes = self.read.fill_buf().await?;
            if bytes.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let end = memchr::memchr(b'\n', bytes);
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            match &mut self.skim {
                Some(skim) => skim.feed(piece),
                None if self.line.len() + piece.len() > self.longest => {
                    let skim = self.skim.insert(Skim::default());
                    skim.feed(&self.line);
                    skim.feed(piece);
                    self.line = Vec::new();
                }
                None => self.line.extend_from_slice(piece),
            }
            let taken = end.map_or(piece.len(), |end| end + 1);
            self.read.consume(taken);
            if end.is_some() {
                return Ok(self.end_of_line());
            }
        }
    }

    fn end_of_line(&mut self) -> Option<ServerJsonRpcMessage> {
        if let Some(skim) = self.skim.take() {
            tracing::warn!(longest = self.longest, "a message is too long and was left out");
            let text = format!("the answer is longer than {} bytes", self.longest);
            return Some(ServerJsonRpcMessage::error(ErrorData::new(TOO_LONG, text, None), Some(skim.answers()?)));
        }
        let read = read_message(&self.line);
        self.line.clear();
        // One long message should not be paid for by all that follow.
        self.line.shrink_to(1 << 16);
        read
    }
}

/// A message, if it is one. What is none but answers a call makes that call fail.
fn read_message(line: &[u8]) -> Option<ServerJsonRpcMessage> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    match read::message(line) {
        Ok(message) => Some(message),
        Err(error) => {
            tracing::debug!(%error, "a line that is no message was left out");
            let mut skim = Skim::default();
            skim.feed(line);
            let text = format!("the answer cannot be read: {error}");
            Some(ServerJsonRpcMessage::error(ErrorData::new(UNREADABLE, text, None), Some(skim.answers()?)))
        }
    }
}

impl<R, W, K> Transport<RoleClient> for Lines<R, W, K>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
    K: Keep,
{
    type Error = io::Error;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (write, closed) = (self.write.clone(), self.closed.clone());
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let writing = async {
                let mut write = write.lock().await;
                let write = write.as_mut().ok_or(io::ErrorKind::NotConnected)?;
                write.write_all(&line).await?;
                write.flush().await
            };
            closed.run_until_cancelled(writing).await.unwrap_or(Err(io::ErrorKind::NotConnected.into()))
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            match self.next().await {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(%error, "the server sends nothing more");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // A server that does not read would keep us writing for ever.
        self.closed.cancel();
        if let Some(mut write) = self.write.lock().await.take() {
            // The server may be gone already.
            drop(write.shutdown().await);
        }
        self.keep.end().await
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::RequestId;

    use super::*;

    fn lines(text: &'static str, longest: usize) -> Lines<&'static [u8], Vec<u8>, ()> {
        Lines::new(text.as_bytes(), Vec::new(), longest, ())
    }

    fn failed(message: Option<ServerJsonRpcMessage>) -> Option<(RequestId, String)> {
        match message {
            Some(ServerJsonRpcMessage::Error(error)) => Some((error.id?, error.error.message.into_owned())),
            _ => None,
        }
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_fails_the_call_it_answers() {
        let mut lines = lines(
            "noise\n\n{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"far too long\"}]}}\n\
             {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}\n",
            60,
        );
        let (id, message) = failed(lines.receive().await).unwrap();
        assert_eq!((id, message.as_str()), (RequestId::Number(3), "the answer is longer than 60 bytes"));
        assert!(lines.line.capacity() <= 1 << 16, "nothing of it is kept");
        assert!(
            matches!(lines.receive().await, Some(ServerJsonRpcMessage::Response(answer)) if answer.id == RequestId::Number(4))
        );
        assert!(lines.receive().await.is_none());
    }

    #[tokio::test]
    async fn an_answer_that_cannot_be_read_fails_its_call() {
        let mut lines = lines("[1, 2]\n{\"jsonrpc\":\"2.0\",\"id\":3,\"result\n{\"jsonrpc\":\"1.0\",\"id\":3}\n", 1000);
        let (id, message) = failed(lines.receive().await).unwrap();
        assert!(id == RequestId::Number(3) && message.starts_with("the answer cannot be read"), "{message}");
    }
}
