//! Refusal of requests that do not come from this machine.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Request};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use tool_net::RequestSource;

/// Returns the refusal of a request that a server for this machine only does not accept.
pub(super) fn refusal(request: &Request) -> Option<Response> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let why = match RequestSource::new(peer.map(|ConnectInfo(address)| address.ip()), request.headers()) {
        RequestSource::Unknown => {
            "the peer's address is unknown (serve with `into_make_service_with_connect_info::<SocketAddr>()`)"
        }
        RequestSource::Remote => "the request comes from another machine",
        RequestSource::Proxy => "the request comes through a proxy",
        RequestSource::Loopback => return None,
    };
    let text = format!(
        "Forbidden: this server accepts requests from its own machine only, and {why}. To serve other machines, set a \
         token (`HttpConfig::bearer`), a check (`HttpConfig::check`) or the server's name (`HttpConfig::host`)."
    );
    Some((StatusCode::FORBIDDEN, text).into_response())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn is_accepted(peer: Option<&str>, header: Option<(&str, &str)>) -> bool {
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
    fn judges_a_request_by_its_peer_and_not_by_its_host_header() {
        for here in ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            assert!(is_accepted(Some(here), None), "{here}");
        }
        for elsewhere in ["192.0.2.7:1", "[2001:db8::1]:1", "[::ffff:192.0.2.7]:1"] {
            assert!(!is_accepted(Some(elsewhere), None), "{elsewhere}");
        }
        assert!(!is_accepted(None, None));
        assert!(!is_accepted(Some("127.0.0.1:1"), Some(("x-forwarded-for", "192.0.2.7"))));
    }
}
