//! By which name this server was asked for.
//!
//! A page of another site cannot read what this server answers, but its owner can let the site's own name lead here and
//! ask by that one, as the same site ("DNS rebinding"). The browser then still says the name, and that is what is looked
//! at. An address has no name that could be rebound.

use std::net::IpAddr;

use http::request::Parts;
use http::uri::Authority;
use http::{StatusCode, header};

use crate::Problem;

/// The name and the port that a request was made for.
pub(super) struct Host {
    /// In lower case, without the brackets of an address.
    name: String,
    pub(super) port: Option<u16>,
}

impl Host {
    /// Of a request. It says its host once, or the same twice.
    pub(super) fn of(parts: &Parts) -> Result<Self, Problem> {
        let mut said = parts.headers.get_all(header::HOST).into_iter();
        let from_header = said.next().map(|value| Authority::try_from(value.as_bytes()));
        let host = match (from_header, parts.uri.authority()) {
            (Some(Ok(host)), None) => host,
            (Some(Ok(host)), Some(asked)) if host == *asked => host,
            (None, Some(asked)) => asked.clone(),
            _ => return Err(unclear()),
        };
        if said.next().is_some() {
            return Err(unclear());
        }
        Self::read(&host).ok_or_else(unclear)
    }

    pub(super) fn read(authority: &Authority) -> Option<Self> {
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

fn unclear() -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "host", "Say once for which host this is, in the header `Host`.")
}
