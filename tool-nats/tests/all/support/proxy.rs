//! A network between two programs that can be interrupted and slowed down.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The state of the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    Open,
    /// Every packet is delayed by this time.
    Slow(Duration),
    /// Packets are dropped silently.
    Silent,
    /// Connections are closed, and new ones are rejected.
    Cut,
}

/// A proxy in front of a server. Dropping it stops it.
pub struct Proxy {
    address: SocketAddr,
    way: watch::Sender<Way>,
}

impl Proxy {
    pub async fn to(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (way, ways) = watch::channel(Way::Open);
        let proxy = Self { address: listener.local_addr().unwrap(), way };
        tokio::spawn(accept(listener, server.to_owned(), ways));
        proxy
    }

    pub fn url(&self) -> String {
        self.address.to_string()
    }

    pub fn set(&self, way: Way) {
        self.way.send_replace(way);
    }
}

async fn accept(listener: TcpListener, server: String, ways: watch::Receiver<Way>) {
    while let Ok((near, _)) = listener.accept().await {
        if *ways.borrow() == Way::Cut {
            continue;
        }
        let Ok(far) = TcpStream::connect(&server).await else { continue };
        let (near_read, near_write) = near.into_split();
        let (far_read, far_write) = far.into_split();
        tokio::spawn(pass(near_read, far_write, ways.clone()));
        tokio::spawn(pass(far_read, near_write, ways.clone()));
    }
}

async fn pass(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut ways: watch::Receiver<Way>,
) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read,
            closed = ways.wait_for(|way| *way == Way::Cut) => {
                drop(closed);
                return;
            }
        };
        let Ok(length @ 1..) = read else { return };
        let way = *ways.borrow();
        match way {
            Way::Open => {}
            Way::Slow(delay) => tokio::time::sleep(delay).await,
            Way::Silent => drop(ways.wait_for(|way| *way != Way::Silent).await),
            Way::Cut => return,
        }
        if to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}
