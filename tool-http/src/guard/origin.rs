//! The origin of a request that a browser sends, checked against cross-site request forgery.

use std::fmt;

use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::host::Host;
use crate::Problem;

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");
const REQUESTED_WITH: HeaderName = HeaderName::from_static("x-requested-with");

/// The origin of a page as browsers send it: `https://app.example.org`.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Origin(HeaderValue);

impl Origin {
    pub(super) fn parse(text: &str) -> Result<Self, InvalidName> {
        let invalid =
            || InvalidName(format!("`{text}` is not an origin: expected `https://app.example.org`, without a path"));
        let (scheme, authority) = split_origin(text).ok_or_else(invalid)?;
        let parsed: Authority = authority.parse().map_err(|_| invalid())?;
        Host::parse(&parsed).ok_or_else(invalid)?;
        // Browsers omit the default port.
        let authority = authority.strip_suffix(&format!(":{}", default_port(scheme))).unwrap_or(authority);
        let origin = format!("{scheme}://{}", authority.to_ascii_lowercase());
        HeaderValue::try_from(origin).map(Self).map_err(|_| invalid())
    }

    pub(super) fn value(&self) -> HeaderValue {
        self.0.clone()
    }
}

fn split_origin(origin: &str) -> Option<(&str, &str)> {
    let (scheme, authority) = origin.split_once("://")?;
    matches!(scheme, "http" | "https").then_some((scheme, authority))
}

fn default_port(scheme: &str) -> u16 {
    if scheme == "https" { 443 } else { 80 }
}

/// Error for an invalid host name or origin passed to a [`Guard`](crate::Guard).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidName(pub(super) String);

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidName {}

/// Refuses requests that a page of another site made a browser send. Clients other than browsers send no origin; their
/// requests with an unsafe method must carry a header that no HTML form can send.
pub(super) fn check(parts: &Parts, host: &Host, allowed: &[Origin]) -> Result<(), Problem> {
    let origin = parts.headers.get(header::ORIGIN);
    if let Some(origin) = origin {
        if allowed.iter().any(|allowed| allowed.0 == *origin) {
            return Ok(());
        }
        if !is_same_origin(origin, host) {
            return Err(other_site());
        }
    }
    let site = parts.headers.get(&SITE).map(HeaderValue::as_bytes);
    match site {
        None | Some(b"same-origin" | b"none") => {}
        Some(_) if parts.method.is_safe() && is_navigation(&parts.headers) => {}
        Some(_) => return Err(other_site()),
    }
    if parts.method.is_safe() || origin.is_some() || site.is_some() || has_non_form_header(&parts.headers) {
        return Ok(());
    }
    let detail = "This request could come from a form of another site: send `Content-Type: application/json`, or an \
                  `X-Requested-With` header with any value.";
    Err(Problem::new(StatusCode::FORBIDDEN, "csrf", detail))
}

fn is_same_origin(origin: &HeaderValue, host: &Host) -> bool {
    let Some((scheme, authority)) = origin.to_str().ok().and_then(split_origin) else { return false };
    let Some(origin) = authority.parse().ok().and_then(|authority| Host::parse(&authority)) else { return false };
    let default = default_port(scheme);
    origin.name() == host.name() && origin.port.unwrap_or(default) == host.port.unwrap_or(default)
}

/// Returns `true` if the user followed a link: only the user sees the response.
fn is_navigation(headers: &HeaderMap) -> bool {
    let is = |name, value: &[u8]| headers.get(name).is_some_and(|header: &HeaderValue| header.as_bytes() == value);
    is(MODE, b"navigate") && is(DESTINATION, b"document")
}

fn has_non_form_header(headers: &HeaderMap) -> bool {
    crate::body::is_json(headers)
        || headers.contains_key(header::AUTHORIZATION)
        || headers.contains_key(&REQUESTED_WITH)
}

fn other_site() -> Problem {
    let detail = "This request came from a page of another site: use a page of this server, or allow that site with \
                  `Guard::origin(\"https://..\")`.";
    Problem::new(StatusCode::FORBIDDEN, "origin", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalizes_origins_as_browsers_do() {
        for (given, normalized) in [
            ("https://App.example.org:443", "https://app.example.org"),
            ("http://app.example.org:80", "http://app.example.org"),
            ("https://[2001:db8::443]:443", "https://[2001:db8::443]"),
            // Control: these are not the default ports.
            ("http://app.example.org:443", "http://app.example.org:443"),
            ("https://app.example.org:80", "https://app.example.org:80"),
            ("https://app.example.org:8443", "https://app.example.org:8443"),
        ] {
            assert_eq!(Origin::parse(given).unwrap().value(), normalized, "{given}");
        }
    }
}
