//! One message a line, over two streams: how programs speak that start each other.

mod out;
mod skim;

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

use self::out::Out;
pub(crate) use self::skim::Skim;

/// How long the end waits for what is being written.
const PATIENCE: Duration = Duration::from_secs(1);

/// Two streams with one message a line. A line that is too long is not kept: what is in it is looked through for the
/// call that it is about, so that this call fails and does not wait forever.
pub(crate) struct Lines<R, W, K> {
    read: BufReader<R>,
    /// The line so far. It lives here and not in `receive`, which is dropped whenever something else happens.
    line: Vec<u8>,
    /// What goes through the rest of a line that is too long.
    skim: Option<Skim>,
    longest: usize,
    out: Arc<Out<W>>,
    /// An answer of our own that is being written. It lives here for the same reason.
    reply: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
    /// What has to live as long as the streams do.
    keep: K,
}

/// What is at the other end, and has to be ended.
pub(crate) trait Keep: Send {
    /// Nothing more is said there.
    fn fell_silent(&mut self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    fn end(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        std::future::ready(Ok(()))
    }
}

impl Keep for () {}

/// How one side of a connection reads what the other one says.
pub(crate) trait Side: ServiceRole {
    /// What is in a line.
    fn read(line: &[u8]) -> Line<Self>;

    /// What is to be done about a line that was longer than allowed.
    fn too_long(line: &Skim, longest: usize) -> Line<Self>;
}

/// What came of a line.
pub(crate) enum Line<S: ServiceRole> {
    /// This was said.
    Message(RxJsonRpcMessage<S>),
    /// Nothing that could be taken; this is answered. rmcp has no form for an id that it does not know.
    Reply(Box<RawValue>),
    /// Nothing at all.
    Nothing,
}

impl<R: AsyncRead + Unpin, W, K> Lines<R, W, K> {
    pub(crate) fn new(read: R, write: W, longest: usize, keep: K) -> Self {
        let read = BufReader::new(read);
        Self { read, line: Vec::new(), skim: None, longest, out: Arc::new(Out::new(write)), reply: None, keep }
    }

    /// The next line. An error is the end.
    async fn next<S: Side>(&mut self) -> io::Result<Line<S>> {
        loop {
            let bytes = self.read.fill_buf().await?;
            if bytes.is_empty() {
                return self.last_line().ok_or_else(|| io::ErrorKind::UnexpectedEof.into());
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
                // Most lines come whole, and are read where they are.
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

    /// Returns what stands in a last line that was not ended. A message that was cut off is none.
    fn last_line<S: Side>(&mut self) -> Option<Line<S>> {
        let is_whole = self.skim.is_none() && serde_json::from_slice::<IgnoredAny>(&self.line).is_ok();
        if !is_whole {
            self.line.clear();
        }
        is_whole.then(|| self.end_of_line())
    }

    fn end_of_line<S: Side>(&mut self) -> Line<S> {
        if let Some(skim) = self.skim.take() {
            tracing::warn!(longest = self.longest, "a message is too long and was left out");
            return S::too_long(&skim, self.longest);
        }
        let read = read(&self.line);
        self.line.clear();
        // One long message should not be paid for by all that follow.
        self.line.shrink_to(1 << 16);
        read
    }
}

fn read<S: Side>(line: &[u8]) -> Line<S> {
    match line.trim_ascii() {
        [] => Line::Nothing,
        line => S::read(line),
    }
}

impl<S, R, W, K> Transport<S> for Lines<R, W, K>
where
    S: Side,
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
    K: Keep,
{
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<S>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let said = self.out.push(&message);
        let out = self.out.clone();
        async move { out.flush(said?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<S>> {
        loop {
            if let Some(reply) = &mut self.reply {
                let written = reply.await;
                self.reply = None;
                if let Err(error) = written {
                    tracing::debug!(%error, "nobody reads any more");
                    return None;
                }
            }
            match self.next::<S>().await {
                Ok(Line::Message(message)) => return Some(message),
                Ok(Line::Reply(reply)) => {
                    let said = self.out.push(&reply);
                    let out = self.out.clone();
                    self.reply = Some(Box::pin(async move { out.flush(said?).await }));
                }
                Ok(Line::Nothing) => {}
                Err(error) => {
                    tracing::debug!(%error, "nothing more is said");
                    self.keep.fell_silent().await;
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // Somebody may be writing to a program that does not read.
        drop(timeout(PATIENCE, self.out.close()).await);
        self.keep.end().await
    }
}

#[cfg(test)]
mod tests {
    use rmcp::RoleClient;
    use rmcp::model::{RequestId, ServerJsonRpcMessage};

    use super::*;

    fn lines(text: &'static str, longest: usize) -> Lines<&'static [u8], Vec<u8>, ()> {
        Lines::new(text.as_bytes(), Vec::new(), longest, ())
    }

    async fn receive(lines: &mut Lines<&[u8], Vec<u8>, ()>) -> Option<ServerJsonRpcMessage> {
        Transport::<RoleClient>::receive(lines).await
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
        let (id, message) = failed(receive(&mut lines).await).unwrap();
        assert_eq!((id, message.as_str()), (RequestId::Number(3), "the answer is longer than 60 bytes"));
        assert!(lines.line.capacity() <= 1 << 16, "nothing of it is kept");
        assert!(
            matches!(receive(&mut lines).await, Some(ServerJsonRpcMessage::Response(answer)) if answer.id == RequestId::Number(4))
        );
        assert!(receive(&mut lines).await.is_none());
    }

    #[tokio::test]
    async fn a_last_line_without_an_end_is_read_if_it_is_whole() {
        let answer = "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}";
        for longest in [1000, 10] {
            let mut lines = lines(answer, longest);
            assert_eq!(receive(&mut lines).await.is_some(), longest == 1000);
            assert!(receive(&mut lines).await.is_none());
        }
        let mut cut_off = lines(&answer[..answer.len() - 1], 1000);
        assert!(receive(&mut cut_off).await.is_none(), "the call is told that the connection was lost");
    }

    #[tokio::test]
    async fn an_answer_that_cannot_be_read_fails_its_call() {
        let mut lines = lines("[1, 2]\n{\"jsonrpc\":\"2.0\",\"id\":3,\"result\n{\"jsonrpc\":\"1.0\",\"id\":3}\n", 1000);
        let (id, message) = failed(receive(&mut lines).await).unwrap();
        assert!(id == RequestId::Number(3) && message.starts_with("the answer cannot be read"), "{message}");
    }
}
