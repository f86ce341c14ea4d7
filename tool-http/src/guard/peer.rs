//! Who is at the other end of a connection.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::extract::ConnectInfo;
use http::request::Parts;
use http::{HeaderName, header};

/// The address of whoever sent a request, if the server was told to keep it.
#[derive(Clone, Copy)]
pub(super) struct Peer(pub(super) Option<IpAddr>);

impl Peer {
    pub(super) fn of(parts: &Parts) -> Self {
        let info = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        Self(info.map(|ConnectInfo(address)| address.ip().to_canonical()))
    }

    pub(super) fn is_loopback(self) -> bool {
        self.0.is_some_and(|address| address.is_loopback())
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

/// Whether somebody in between passed the request on, so that the peer is not who sent it.
pub(super) fn is_forwarded(parts: &Parts) -> bool {
    const BY_PROXIES: [HeaderName; 5] = [
        header::FORWARDED,
        header::VIA,
        HeaderName::from_static("x-forwarded-for"),
        HeaderName::from_static("x-forwarded-host"),
        HeaderName::from_static("x-real-ip"),
    ];
    BY_PROXIES.iter().any(|name| parts.headers.contains_key(name))
}
