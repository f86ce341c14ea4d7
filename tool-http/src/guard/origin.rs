//! Which page a request comes from, where a browser sends it.

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

/// Where a page was loaded from, as browsers say it: `https://app.example.org`.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Origin(HeaderValue);

impl Origin {
    pub(super) fn read(text: &str) -> Result<Self, InvalidName> {
        let invalid = || InvalidName(format!("`{text}` is no origin: write `https://app.example.org`, with no path"));
        let (scheme, authority) = parts_of(text).ok_or_else(invalid)?;
        let read: Authority = authority.parse().map_err(|_| invalid())?;
        Host::read(&read).ok_or_else(invalid)?;
        // Browsers do not say the usual port.
        let authority = authority.strip_suffix(&format!(":{}", usual_port(scheme))).unwrap_or(authority);
        let said = format!("{scheme}://{}", authority.to_ascii_lowercase());
        HeaderValue::try_from(said).map(Self).map_err(|_| invalid())
    }

    pub(super) fn value(&self) -> HeaderValue {
        self.0.clone()
    }
}

fn parts_of(origin: &str) -> Option<(&str, &str)> {
    let (scheme, authority) = origin.split_once("://")?;
    matches!(scheme, "http" | "https").then_some((scheme, authority))
}

fn usual_port(scheme: &str) -> u16 {
    if scheme == "https" { 443 } else { 80 }
}

/// A name that a [`Guard`](crate::Guard) cannot go by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidName(pub(super) String);

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidName {}

/// Refuses what a page of another site had a browser send. Whoever is no browser says nothing of pages; a request of
/// theirs that changes something carries a header which no form can send.
pub(super) fn check(parts: &Parts, host: &Host, allowed: &[Origin]) -> Result<(), Problem> {
    let origin = parts.headers.get(header::ORIGIN);
    if let Some(origin) = origin {
        if allowed.iter().any(|allowed| allowed.0 == *origin) {
            return Ok(());
        }
        if !is_same(origin, host) {
            return Err(other_site());
        }
    }
    let site = parts.headers.get(&SITE).map(HeaderValue::as_bytes);
    match site {
        None | Some(b"same-origin" | b"none") => {}
        Some(_) if parts.method.is_safe() && is_link(&parts.headers) => {}
        Some(_) => return Err(other_site()),
    }
    if parts.method.is_safe() || origin.is_some() || site.is_some() || no_form_sends(&parts.headers) {
        return Ok(());
    }
    let detail = "This could be a form of another site: send `Content-Type: application/json`, or a header \
                  `X-Requested-With` of any value.";
    Err(Problem::new(StatusCode::FORBIDDEN, "csrf", detail))
}

fn is_same(origin: &HeaderValue, host: &Host) -> bool {
    let Some((scheme, authority)) = origin.to_str().ok().and_then(parts_of) else { return false };
    let Some(origin) = authority.parse().ok().and_then(|authority| Host::read(&authority)) else { return false };
    let usual = usual_port(scheme);
    origin.name() == host.name() && origin.port.unwrap_or(usual) == host.port.unwrap_or(usual)
}

/// Somebody followed a link to here, and the answer is shown to nobody but them.
fn is_link(headers: &HeaderMap) -> bool {
    let is = |name, value: &[u8]| headers.get(name).is_some_and(|said: &HeaderValue| said.as_bytes() == value);
    is(MODE, b"navigate") && is(DESTINATION, b"document")
}

fn no_form_sends(headers: &HeaderMap) -> bool {
    crate::body::is_json(headers)
        || headers.contains_key(header::AUTHORIZATION)
        || headers.contains_key(&REQUESTED_WITH)
}

fn other_site() -> Problem {
    let detail = "A page of another site sent this: use a page of this server, or allow that site with \
                  `Guard::origin(\"https://..\")`.";
    Problem::new(StatusCode::FORBIDDEN, "origin", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_what_browsers_say() {
        for (given, said) in [
            ("https://App.example.org:443", "https://app.example.org"),
            ("http://app.example.org:80", "http://app.example.org"),
            ("https://[2001:db8::443]:443", "https://[2001:db8::443]"),
            // The control: these ports are said.
            ("http://app.example.org:443", "http://app.example.org:443"),
            ("https://app.example.org:80", "https://app.example.org:80"),
            ("https://app.example.org:8443", "https://app.example.org:8443"),
        ] {
            assert_eq!(Origin::read(given).unwrap().value(), said, "{given}");
        }
    }
}
