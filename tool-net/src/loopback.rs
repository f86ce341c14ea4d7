//! Loopback detection for requests and host names.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, header};

/// Headers that proxies add to the requests they forward.
const PROXY_HEADERS: [HeaderName; 5] = [
    header::FORWARDED,
    header::VIA,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-real-ip"),
];

/// The origin of a request, as seen from its connection and headers.
///
/// Only [`Loopback`](Self::Loopback) proves that the client runs on this machine. The `Host` header proves nothing: any
/// client that reaches the socket can write `localhost` there.
///
/// ```
/// use http::HeaderMap;
/// use tool_net::RequestSource;
///
/// let peer = "127.0.0.1".parse().ok();
/// assert_eq!(RequestSource::new(peer, &HeaderMap::new()), RequestSource::Loopback);
///
/// let mut headers = HeaderMap::new();
/// headers.insert("x-forwarded-for", "192.0.2.7".parse().unwrap());
/// assert_eq!(RequestSource::new(peer, &headers), RequestSource::Proxy);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestSource {
    /// The server does not record peer addresses.
    Unknown,
    /// The peer has an address of another machine.
    Remote,
    /// The peer is on this machine and forwards the request of another client.
    Proxy,
    /// The peer is on this machine and sent the request itself.
    Loopback,
}

impl RequestSource {
    /// Classifies a request by the address of its peer and its headers.
    pub fn new(peer: Option<IpAddr>, headers: &HeaderMap) -> Self {
        match peer {
            None => Self::Unknown,
            Some(peer) if !peer.to_canonical().is_loopback() => Self::Remote,
            Some(_) if PROXY_HEADERS.iter().any(|name| headers.contains_key(name)) => Self::Proxy,
            Some(_) => Self::Loopback,
        }
    }
}

/// Returns `true` if a host, as written in a URL or a `Host` header without its port, can only mean this machine:
/// a loopback address, `localhost`, or a name below `localhost`, which RFC 6761 reserves.
///
/// ```
/// assert!(tool_net::is_loopback_host("[::1]"));
/// assert!(tool_net::is_loopback_host("models.localhost"));
/// assert!(!tool_net::is_loopback_host("localhost.example.org"));
/// ```
pub fn is_loopback_host(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    match address.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => {
            let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classifies_a_request_by_its_peer_and_proxy_headers() {
        let classify = |peer: Option<&str>, header: Option<HeaderName>| {
            let headers = header.map(|name| (name, "192.0.2.7".parse().unwrap()));
            RequestSource::new(peer.map(|peer| peer.parse().unwrap()), &headers.into_iter().collect())
        };
        for peer in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(classify(Some(peer), None), RequestSource::Loopback, "{peer}");
            for name in PROXY_HEADERS {
                assert_eq!(classify(Some(peer), Some(name.clone())), RequestSource::Proxy, "{peer} {name}");
            }
        }
        for peer in ["192.0.2.7", "2001:db8::1", "::ffff:192.0.2.7"] {
            assert_eq!(classify(Some(peer), None), RequestSource::Remote, "{peer}");
        }
        assert_eq!(classify(None, None), RequestSource::Unknown);
        assert_eq!(classify(Some("127.0.0.1"), Some(header::ACCEPT)), RequestSource::Loopback);
    }

    #[test]
    fn recognises_hosts_that_can_only_mean_this_machine() {
        for host in
            ["localhost", "LocalHost.", "a.localhost", "127.0.0.1", "127.8.9.1", "::1", "[::1]", "[::ffff:127.0.0.1]"]
        {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in ["", "localhost.example.org", "notlocalhost", "10.0.0.1", "[2001:db8::1]", "0.0.0.0", "[localhost]"]
        {
            assert!(!is_loopback_host(host), "{host}");
        }
    }
}
