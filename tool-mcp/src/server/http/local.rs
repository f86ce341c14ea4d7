//! Whether a request comes from this machine.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Request};
use axum::response::{IntoResponse, Response};
use http::{HeaderName, StatusCode, header};

/// What proxies say of those for whom they ask.
const BY_PROXIES: [HeaderName; 5] = [
    header::FORWARDED,
    header::VIA,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-real-ip"),
];

/// Why a request is not answered by a server for this machine only, if it is not. A `Host` says nothing of where a request
/// comes from: whoever reaches the socket can write `localhost` there.
pub(super) fn refusal(request: &Request) -> Option<Response> {
    let why = match request.extensions().get::<ConnectInfo<SocketAddr>>() {
        None => "where this comes from is not known (serve with `into_make_service_with_connect_info::<SocketAddr>()`)",
        Some(ConnectInfo(peer)) if !peer.ip().to_canonical().is_loopback() => "this comes from another",
        Some(_) if BY_PROXIES.iter().any(|name| request.headers().contains_key(name)) => "this comes through a proxy",
        Some(_) => return None,
    };
    let text = format!(
        "Forbidden: this server answers its own machine, and {why}. For others it needs a token (`HttpConfig::bearer`), a \
         check (`HttpConfig::check`) or the name by which they reach it (`HttpConfig::host`)."
    );
    Some((StatusCode::FORBIDDEN, text).into_response())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn answered(peer: Option<&str>, header: Option<(&str, &str)>) -> bool {
        let mut request = http::Request::builder().uri("/mcp").header("host", "localhost");
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let mut request = request.body(Body::empty()).unwrap();
        if let Some(peer) = peer {
            request.extensions_mut().insert(ConnectInfo::<SocketAddr>(peer.parse().unwrap()));
        }
        refusal(&request).is_none()
    }

    #[test]
    fn a_name_in_a_header_is_no_place() {
        for here in ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            assert!(answered(Some(here), None), "{here}");
        }
        for elsewhere in ["192.0.2.7:1", "[2001:db8::1]:1", "[::ffff:192.0.2.7]:1"] {
            assert!(!answered(Some(elsewhere), None), "{elsewhere}");
        }
        assert!(!answered(None, None));
        assert!(!answered(Some("127.0.0.1:1"), Some(("x-forwarded-for", "192.0.2.7"))));
    }
}
