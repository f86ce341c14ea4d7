//! A server that answers with whatever bytes it is told to.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// A server on a port of its own.
pub struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    closed: Arc<Notify>,
}

/// What it answers.
#[derive(Clone)]
pub enum Reply {
    /// These bytes, and then it closes the connection.
    Bytes(Vec<u8>),
    /// The first bytes, and then the others again and again, at full speed.
    Endless(Vec<u8>, Vec<u8>),
    /// These bytes, and then nothing, with the connection open.
    Stuck(Vec<u8>),
}

impl Server {
    /// A server whose answers depend on the path and query.
    pub async fn start(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let (seen, closed) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Notify::new()));
        let (answer, heard, closing) = (Arc::new(answer), seen.clone(), closed.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, heard, closing) = (answer.clone(), heard.clone(), closing.clone());
                tokio::spawn(async move {
                    serve(stream, &*answer, &heard).await;
                    closing.notify_one();
                });
            }
        });
        Self { address, seen, closed }
    }

    /// The same answer to everything.
    pub async fn always(reply: Reply) -> Self {
        Self::start(move |_| reply.clone()).await
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Where the service is allowed to reach it; see [`web`](super::web).
    pub fn url(&self, path: &str) -> String {
        format!("http://site.test:{}{path}", self.port())
    }

    /// The requests so far, each with its headers.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("the list").clone()
    }

    /// Waits until a connection is over.
    pub async fn closed(&self) {
        self.closed.notified().await;
    }
}

async fn serve(mut stream: TcpStream, answer: &(dyn Fn(&str) -> Reply + Send + Sync), seen: &Mutex<Vec<String>>) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => request.push(byte),
            Err(_) => return,
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    seen.lock().expect("the list").push(request);
    match answer(&path) {
        Reply::Bytes(bytes) => {
            _ = stream.write_all(&bytes).await;
            _ = stream.shutdown().await;
            // What is closed with bytes unread is reset, and what was sent is lost with it.
            _ = stream.read_to_end(&mut Vec::new()).await;
        }
        Reply::Endless(first, again) => {
            let mut written = stream.write_all(&first).await;
            while written.is_ok() {
                written = stream.write_all(&again).await;
            }
        }
        Reply::Stuck(first) => {
            _ = stream.write_all(&first).await;
            _ = stream.read_to_end(&mut Vec::new()).await;
        }
    }
}

/// A whole answer with a body of some type.
pub fn ok(content_type: &str, body: impl AsRef<[u8]>) -> Reply {
    with(&[("Content-Type", content_type)], body)
}

/// A whole answer with these headers.
pub fn with(headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Reply {
    status("200 OK", headers, body)
}

/// A whole answer with this status.
pub fn status(status: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Reply {
    let body = body.as_ref();
    let mut reply = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    headers.iter().for_each(|(name, value)| reply.push_str(&format!("{name}: {value}\r\n")));
    reply.push_str("\r\n");
    Reply::Bytes([reply.as_bytes(), body].concat())
}

/// A redirection.
pub fn redirect(to: &str) -> Reply {
    status("302 Found", &[("Location", to)], "")
}

/// The bytes of a text.
pub fn bytes(text: &str) -> Reply {
    Reply::Bytes(text.as_bytes().to_vec())
}
