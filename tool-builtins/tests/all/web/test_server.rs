//! A server with scripted responses.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// A server on a local port.
pub struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    closed: Arc<Notify>,
}

/// A scripted response.
#[derive(Clone)]
pub enum Reply {
    /// Sends these bytes and closes the connection.
    Bytes(Vec<u8>),
    /// Sends the first bytes, and then the others repeatedly.
    Endless(Vec<u8>, Vec<u8>),
    /// Sends these bytes, and then nothing, keeping the connection open.
    Stuck(Vec<u8>),
}

impl Server {
    /// Starts a server whose responses depend on the path and query.
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

    /// Starts a server with the same response to every request.
    pub async fn always(reply: Reply) -> Self {
        Self::start(move |_| reply.clone()).await
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns a URL under which the service may reach it; see [`web`](super::web).
    pub fn url(&self, path: &str) -> String {
        format!("http://site.test:{}{path}", self.port())
    }

    /// Returns the requests so far, with their headers.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("the list").clone()
    }

    /// Waits until a connection has ended.
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
            // Closing with unread bytes would reset the connection and lose what was sent.
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

/// Returns a response with this content type.
pub fn ok(content_type: &str, body: impl AsRef<[u8]>) -> Reply {
    with(&[("Content-Type", content_type)], body)
}

/// Returns a response with these headers.
pub fn with(headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Reply {
    status("200 OK", headers, body)
}

/// Returns a response with this status.
pub fn status(status: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Reply {
    let body = body.as_ref();
    let mut reply = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    headers.iter().for_each(|(name, value)| reply.push_str(&format!("{name}: {value}\r\n")));
    reply.push_str("\r\n");
    Reply::Bytes([reply.as_bytes(), body].concat())
}

/// Returns a redirect.
pub fn redirect(to: &str) -> Reply {
    status("302 Found", &[("Location", to)], "")
}

/// Returns a response that consists of this text.
pub fn bytes(text: &str) -> Reply {
    Reply::Bytes(text.as_bytes().to_vec())
}
