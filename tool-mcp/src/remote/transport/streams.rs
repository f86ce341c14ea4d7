//! Connections over a pair of streams that a function opens.

use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

pub(super) type Read = Box<dyn AsyncRead + Send + Unpin>;
pub(super) type Write = Box<dyn AsyncWrite + Send + Unpin>;
type Opening = Pin<Box<dyn Future<Output = io::Result<(Read, Write)>> + Send>>;

/// Opens a pair of streams for each connection.
pub(crate) trait StreamConnector: Send + Sync {
    fn connect(&self) -> Opening;
}

struct ConnectFn<F>(F);

impl<F: Fn() -> Opening + Send + Sync> StreamConnector for ConnectFn<F> {
    fn connect(&self) -> Opening {
        (self.0)()
    }
}

pub(in crate::remote) fn streams<F, Fut, R, W>(connect: F) -> impl StreamConnector
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = io::Result<(R, W)>> + Send + 'static,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    ConnectFn(move || -> Opening {
        let opening = connect();
        Box::pin(async move {
            let (read, write) = opening.await?;
            Ok((Box::new(read) as Read, Box::new(write) as Write))
        })
    })
}
