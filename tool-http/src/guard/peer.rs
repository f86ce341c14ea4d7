//! Who is at the other end of a connection.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::extract::ConnectInfo;
use http::request::Parts;

/// The address of whoever sent a request, if the server was told to keep it.
#[derive(Clone, Copy)]
pub(super) struct Peer(pub(super) Option<IpAddr>);

impl Peer {
    pub(super) fn of(parts: &Parts) -> Self {
        let info = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        Self(info.map(|ConnectInfo(address)| address.ip().to_canonical()))
    }

    /// Whom requests are counted for. In IPv6 that is a network: one customer has all addresses of it.
    pub(super) fn counted_as(self) -> String {
        match self.0 {
            None => String::new(),
            Some(IpAddr::V4(address)) => address.to_string(),
            Some(IpAddr::V6(address)) => Ipv6Addr::from(u128::from(address) >> 64 << 64).to_string(),
        }
    }
}
