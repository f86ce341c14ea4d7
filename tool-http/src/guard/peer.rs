//! The address at the other end of a connection.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::extract::ConnectInfo;
use http::request::Parts;

/// The address that a request came from; `None` if the server does not record it.
#[derive(Clone, Copy)]
pub(super) struct Peer(pub(super) Option<IpAddr>);

impl Peer {
    pub(super) fn from_request(parts: &Parts) -> Self {
        let info = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        Self(info.map(|ConnectInfo(address)| address.ip().to_canonical()))
    }

    /// Returns the key of the peer's rate limit. For IPv6 it is the /64 network, since one customer has all its addresses.
    pub(super) fn rate_key(self) -> String {
        match self.0 {
            None => String::new(),
            Some(IpAddr::V4(address)) => address.to_string(),
            Some(IpAddr::V6(address)) => Ipv6Addr::from(u128::from(address) >> 64 << 64).to_string(),
        }
    }
}
