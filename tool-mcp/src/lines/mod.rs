//! Newline-delimited JSON over a pair of streams: the stdio transport of MCP.

mod scanner;
mod writer;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::service::{RxJsonRpcMessage, ServiceRole, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader};
use tokio::time::timeout;

pub(crate) use self::scanner::MessageScanner;
use self::writer::LineWriter;

/// The time that closing waits for a pending write.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A transport with one message per line. A line over the limit is not buffered: it is scanned for the id of its
/// request, so that the request fails instead of waiting forever.
pub(crate) struct LineTransport<R, W, K> {
    read: BufReader<R>,
    /// The line so far. It is a field because `receive` is cancelled whenever another event comes first.
    line: Vec<u8>,
    /// Scans the rest of a line that is too long.
    scanner: Option<MessageScanner>,
    longest: usize,
    writer: Arc<LineWriter<W>>,
    /// A reply of the transport itself that is being written. It is a field for the same reason.
    reply: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
    /// The other end of the streams.
    end: K,
}

/// The other end of a pair of streams: a child process, or a client.
pub(crate) trait StreamEnd: Send {
    /// Called when the other end has closed its output.
    fn on_eof(&mut self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    fn close(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        std::future::ready(Ok(()))
    }
}

impl StreamEnd for () {}

/// A protocol role that can parse lines.
pub(crate) trait LineRole: ServiceRole {
    /// Parses a line.
    fn read(line: &[u8]) -> ParsedLine<Self>;

    /// Handles a line that was longer than `longest` bytes.
    fn too_long(line: &MessageScanner, longest: usize) -> ParsedLine<Self>;
}

/// The result of parsing a line.
pub(crate) enum ParsedLine<S: ServiceRole> {
    Message(RxJsonRpcMessage<S>),
    /// An invalid message, and the reply to it. It is raw JSON because rmcp cannot represent ids that it does not know.
    Reply(Box<RawValue>),
    /// An empty line, or one that needs no reply.
    Ignored,
}

impl<R: AsyncRead + Unpin, W, K> LineTransport<R, W, K> {
    pub(crate) fn new(read: R, write: W, longest: usize, end: K) -> Self {
        let read = BufReader::new(read);
        Self {
            read,
            line: Vec::new(),
            scanner: None,
            longest,
            writer: Arc::new(LineWriter::new(write)),
            reply: None,
            end,
        }
    }

    /// Reads the next line. An error ends the connection.
    async fn next<S: LineRole>(&mut self) -> io::Result<ParsedLine<S>> {
        loop {
            let bytes = self.read.fill_buf().await?;
            if bytes.is_empty() {
                return self.last_line().ok_or_else(|| io::ErrorKind::UnexpectedEof.into());
            }
            let end = memchr::memchr(b'\n', bytes);
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            match &mut self.scanner {
                Some(scanner) => scanner.feed(piece),
                None if self.line.len() + piece.len() > self.longest => {
                    let scanner = self.scanner.insert(MessageScanner::default());
                    scanner.feed(&self.line);
                    scanner.feed(piece);
                    self.line = Vec::new();
                }
                // Fast path: most lines arrive whole and are parsed in the buffer.
                None if end.is_some() && self.line.is_empty() => {
                    let read = read(piece);
                    let taken = piece.len() + 1;
                    self.read.consume(taken);
                    return Ok(read);
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

    /// Parses a last line without a newline. A truncated message is dropped.
    fn last_line<S: LineRole>(&mut self) -> Option<ParsedLine<S>> {
        let is_whole = self.scanner.is_none() && serde_json::from_slice::<IgnoredAny>(&self.line).is_ok();
        if !is_whole {
            self.line.clear();
        }
        is_whole.then(|| self.end_of_line())
    }

    fn end_of_line<S: LineRole>(&mut self) -> ParsedLine<S> {
        if let Some(scanner) = self.scanner.take() {
            tracing::warn!(longest = self.longest, "dropped a message that exceeds the length limit");
            return S::too_long(&scanner, self.longest);
        }
        let read = read(&self.line);
        self.line.clear();
        // Frees the memory of an unusually long message.
        self.line.shrink_to(1 << 16);
        read
    }
}

fn read<S: LineRole>(line: &[u8]) -> ParsedLine<S> {
    match line.trim_ascii() {
        [] => ParsedLine::Ignored,
        line => S::read(line),
    }
}

impl<S, R, W, K> Transport<S> for LineTransport<R, W, K>
where
    S: LineRole,
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
    K: StreamEnd,
{
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<S>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let queued = self.writer.push(&message);
        let writer = self.writer.clone();
        async move { writer.flush(queued?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<S>> {
        loop {
            if let Some(reply) = &mut self.reply {
                let written = reply.await;
                self.reply = None;
                if let Err(error) = written {
                    tracing::debug!(%error, "the other end no longer reads");
                    return None;
                }
            }
            match self.next::<S>().await {
                Ok(ParsedLine::Message(message)) => return Some(message),
                Ok(ParsedLine::Reply(reply)) => {
                    let queued = self.writer.push(&reply);
                    let writer = self.writer.clone();
                    self.reply = Some(Box::pin(async move { writer.flush(queued?).await }));
                }
                Ok(ParsedLine::Ignored) => {}
                Err(error) => {
                    tracing::debug!(%error, "the other end closed its output");
                    self.end.on_eof().await;
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // A write may be blocked by a program that does not read.
        drop(timeout(CLOSE_TIMEOUT, self.writer.close()).await);
        self.end.close().await
    }
}

#[cfg(test)]
mod tests {
    use rmcp::RoleClient;
    use rmcp::model::{RequestId, ServerJsonRpcMessage};

    use super::*;

    fn lines(text: &'static str, longest: usize) -> LineTransport<&'static [u8], Vec<u8>, ()> {
        LineTransport::new(text.as_bytes(), Vec::new(), longest, ())
    }

    async fn receive(lines: &mut LineTransport<&[u8], Vec<u8>, ()>) -> Option<ServerJsonRpcMessage> {
        Transport::<RoleClient>::receive(lines).await
    }

    fn failed(message: Option<ServerJsonRpcMessage>) -> Option<(RequestId, String)> {
        match message {
            Some(ServerJsonRpcMessage::Error(error)) => Some((error.id?, error.error.message.into_owned())),
            _ => None,
        }
    }

    #[tokio::test]
    async fn fails_the_request_whose_response_exceeds_the_limit() {
        let mut lines = lines(
            "noise\n\n{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"far too long\"}]}}\n\
             {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}\n",
            60,
        );
        let (id, message) = failed(receive(&mut lines).await).unwrap();
        assert_eq!((id, message.as_str()), (RequestId::Number(3), "response exceeds the limit of 60 bytes"));
        assert!(lines.line.capacity() <= 1 << 16, "the line is not kept");
        assert!(
            matches!(receive(&mut lines).await, Some(ServerJsonRpcMessage::Response(answer)) if answer.id == RequestId::Number(4))
        );
        assert!(receive(&mut lines).await.is_none());
    }

    #[tokio::test]
    async fn reads_a_complete_last_line_without_newline() {
        let answer = "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}";
        for longest in [1000, 10] {
            let mut lines = lines(answer, longest);
            assert_eq!(receive(&mut lines).await.is_some(), longest == 1000);
            assert!(receive(&mut lines).await.is_none());
        }
        let mut cut_off = lines(&answer[..answer.len() - 1], 1000);
        assert!(receive(&mut cut_off).await.is_none(), "a truncated message is dropped");
    }

    #[tokio::test]
    async fn fails_the_request_whose_response_is_invalid() {
        let mut lines = lines("[1, 2]\n{\"jsonrpc\":\"2.0\",\"id\":3,\"result\n{\"jsonrpc\":\"1.0\",\"id\":3}\n", 1000);
        let (id, message) = failed(receive(&mut lines).await).unwrap();
        assert!(id == RequestId::Number(3) && message.starts_with("invalid response"), "{message}");
    }
}
