//! The `Host` of a request, checked against DNS rebinding.
//!
//! A page of another site cannot read this server's responses, but its owner can point the site's own DNS name to this
//! server, so that the browser takes both for the same site. The browser still sends that name in `Host`, where the
//! guard checks it. An IP address has no name that could be rebound.

use std::net::IpAddr;

use http::request::Parts;
use http::uri::Authority;
use http::{StatusCode, header};

use crate::Problem;

/// The host name or address and the port of a request.
pub(super) struct Host {
    /// In lower case, without the brackets of an IPv6 address.
    name: String,
    pub(super) port: Option<u16>,
}

impl Host {
    /// Returns the host of a request. `Host` and the URI must agree if both are present.
    pub(super) fn from_request(parts: &Parts) -> Result<Self, Problem> {
        let mut values = parts.headers.get_all(header::HOST).into_iter();
        let from_header = values.next().map(|value| Authority::try_from(value.as_bytes()));
        let host = match (from_header, parts.uri.authority()) {
            (Some(Ok(host)), None) => host,
            (Some(Ok(host)), Some(in_uri)) if host == *in_uri => host,
            (None, Some(in_uri)) => in_uri.clone(),
            _ => return Err(ambiguous_host()),
        };
        if values.next().is_some() {
            return Err(ambiguous_host());
        }
        Self::parse(&host).ok_or_else(ambiguous_host)
    }

    pub(super) fn parse(authority: &Authority) -> Option<Self> {
        if authority.as_str().contains('@') {
            return None;
        }
        let name = authority.host().to_ascii_lowercase();
        let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(&name);
        let name = name.strip_suffix('.').unwrap_or(name);
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        let is_host = is_name || name.parse::<IpAddr>().is_ok();
        is_host.then(|| Self { name: name.to_owned(), port: authority.port_u16() })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn address(&self) -> Option<IpAddr> {
        self.name.parse().ok()
    }

    /// Returns `true` if the name or address can only mean this machine.
    pub(super) fn is_loopback(&self) -> bool {
        tool_net::is_loopback_host(&self.name)
    }
}

fn ambiguous_host() -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "host", "Send exactly one valid `Host` header.")
}
