//! The policy on which URLs may be requested.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use url::{Host, Url};

use super::address;
use super::error::{FetchError, PrivateHost, WebConfigError};

/// The addresses through which a permitted host may be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostAccess {
    /// Only through public addresses.
    Public,
    /// Through any address: the application allowed the host.
    Allowed,
}

/// Checks every requested URL, including redirects.
#[derive(Clone, Debug, Default)]
pub(super) struct UrlPolicy {
    allowed: Vec<AllowedHost>,
}

/// A host allowed by the application.
#[derive(Clone, Debug)]
struct AllowedHost {
    host: Host,
    port: Option<u16>,
}

impl UrlPolicy {
    /// Allows a host: `name`, `name:port`, `1.2.3.4` or `[::1]:8080`.
    pub(super) fn allow(&mut self, text: &str) -> Result<(), WebConfigError> {
        let wrong = |reason: &str| WebConfigError::new(format!("`{text}` is not a valid host: {reason}"));
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, Some(port.parse().map_err(|_| wrong("expected `host` or `host:port`, with IPv6 in brackets"))?))
            }
            _ => (text, None),
        };
        let host = Host::parse(host).map_err(|error| wrong(&error.to_string()))?;
        self.allowed.push(AllowedHost { host, port });
        Ok(())
    }

    /// Checks that a URL may be requested. The addresses of a name are checked when it is resolved.
    pub(super) fn check(&self, url: &Url) -> Result<HostAccess, FetchError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(FetchError::Scheme(url.scheme().to_owned()));
        }
        // `http://known.example@other.example/` leads to `other.example`.
        if !url.username().is_empty() || url.password().is_some() {
            return Err(FetchError::UserInfo);
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(FetchError::Scheme("a URL without a host".to_owned()));
        };
        let allowed = self.allowed.iter().filter(|allowed| allowed.host == host);
        let (ports, hosts): (Vec<_>, Vec<_>) = allowed.partition(|allowed| allowed.port.is_some());
        if ports.iter().any(|allowed| allowed.port == Some(port)) {
            return Ok(HostAccess::Allowed);
        }
        if !is_web_port(port) {
            return Err(FetchError::Port(port));
        }
        if !hosts.is_empty() {
            return Ok(HostAccess::Allowed);
        }
        match literal_address(&host) {
            Some(address) => {
                check_address(address, &host.to_string()).map(|()| HostAccess::Public).map_err(FetchError::from)
            }
            None => Ok(HostAccess::Public),
        }
    }
}

/// Returns the address of a host that is written as one. The URL parser has normalized all notations; a domain name that
/// could still be parsed as an address is checked as a precaution.
fn literal_address(host: &Host<&str>) -> Option<IpAddr> {
    match host {
        Host::Ipv4(address) => Some((*address).into()),
        Host::Ipv6(address) => Some((*address).into()),
        Host::Domain(name) => name.trim_end_matches('.').parse().ok(),
    }
}

/// Checks that an address is public.
pub(super) fn check_address(address: IpAddr, host: &str) -> Result<(), PrivateHost> {
    let own = || address::is_own(address).then_some("an address of this machine");
    match address::special_purpose(address).or_else(own) {
        Some(purpose) => Err(PrivateHost { host: host.to_owned(), address, purpose }),
        None => Ok(()),
    }
}

/// Returns `true` if web pages may be served on a port. Below 1024 only 80 and 443 qualify. Above, any port does except
/// those that browsers block, because their protocols could mistake a request for one of their own.
fn is_web_port(port: u16) -> bool {
    match port {
        80 | 443 => true,
        ..1024 => false,
        _ => !BLOCKED_PORTS.iter().any(|ports| ports.contains(&port)),
    }
}

/// The ports above 1023 that the Fetch standard blocks.
const BLOCKED_PORTS: &[RangeInclusive<u16>] = &[
    1719..=1720,
    1723..=1723,
    2049..=2049,
    3659..=3659,
    4045..=4045,
    4190..=4190,
    5060..=5061,
    6000..=6000,
    6566..=6566,
    6665..=6669,
    6679..=6679,
    6697..=6697,
    10080..=10080,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url_policy: &UrlPolicy, url: &str) -> Result<HostAccess, String> {
        url_policy.check(&Url::parse(url).expect(url)).map_err(|error| error.to_string())
    }

    fn allowing(hosts: &[&str]) -> UrlPolicy {
        let mut url_policy = UrlPolicy::default();
        hosts.iter().for_each(|host| url_policy.allow(host).expect(host));
        url_policy
    }

    #[test]
    fn rejects_every_notation_of_a_special_address() {
        let url_policy = UrlPolicy::default();
        for host in [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "0177.0.0.1",
            "0x7f.0.0.1",
            "0x7f000001",
            "2130706433",
            "017700000001",
            "127.0.0.1.",
            "%31%32%37.0.0.1",
            "１２７.０.０.１",
            "127。0。0。1",
            "①②⑦.0.0.1",
            "0",
            "0.0.0.0",
            "10.1",
            "169.254.169.254",
            "0xa9fea9fe",
            "2852039166",
            "0251.0376.0251.0376",
            "[::1]",
            "[0:0:0:0:0:0:0:1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[::ffff:a9fe:a9fe]",
            "[::127.0.0.1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[fd00:ec2::254]",
            "[fe80::1]",
        ] {
            let refused = check(&url_policy, &format!("http://{host}/")).expect_err(host);
            assert!(refused.contains("not on the public internet"), "{host}: {refused}");
        }
    }

    #[test]
    fn invalid_addresses_are_not_valid_urls() {
        for host in ["127.0.0.1.2", "256.0.0.1", "0x100000000", "[::1%25lo]", "1.2.3.4.5.6", "127.0.0.08"] {
            assert!(Url::parse(&format!("http://{host}/")).is_err(), "{host}");
        }
    }

    #[test]
    fn rejects_other_schemes_and_credentials() {
        let url_policy = UrlPolicy::default();
        for url in
            ["ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "data:text/plain,x", "javascript:1"]
        {
            assert!(check(&url_policy, url).expect_err(url).starts_with("Only http and https"), "{url}");
        }
        for url in
            ["http://example.com@127.0.0.1/", "http://user:secret@example.com/", "http://127.0.0.1:80@example.com/"]
        {
            assert!(check(&url_policy, url).expect_err(url).contains('@'), "{url}");
        }
        // A careless parser would confuse user and host here.
        assert!(check(&url_policy, r"http://127.0.0.1\@example.com/").is_err());
        assert!(check(&url_policy, "http://127.0.0.1#@example.com/").is_err());
    }

    #[test]
    fn accepts_only_web_ports() {
        let url_policy = UrlPolicy::default();
        for port in [80, 443, 1024, 3000, 8000, 8080, 8443, 65535] {
            assert_eq!(check(&url_policy, &format!("http://example.com:{port}/")), Ok(HostAccess::Public));
        }
        for port in [0, 21, 22, 25, 79, 81, 442, 444, 1023, 5060, 6667, 10080] {
            assert!(check(&url_policy, &format!("http://example.com:{port}/")).is_err(), "{port}");
        }
    }

    #[test]
    fn allows_exactly_the_named_host() {
        let url_policy = allowing(&["localhost:3000", "10.0.0.5", "[::1]:8080", "Intranet.Example", "web.example:25"]);
        for url in [
            "http://localhost:3000/a",
            "http://LOCALHOST:3000/",
            "http://10.0.0.5/",
            "http://0xa000005:8080/",
            "https://[::1]:8080/",
            "https://intranet.example/",
            "http://web.example:25/",
        ] {
            assert_eq!(check(&url_policy, url), Ok(HostAccess::Allowed), "{url}");
        }
        for url in [
            "http://localhost:3001/",
            "http://localhost/",
            "http://x.localhost:3000/",
            "http://localhost.:3000/",
            "http://intranet.example.org/",
        ] {
            assert_eq!(check(&url_policy, url), Ok(HostAccess::Public), "{url}");
        }
        for url in
            ["http://10.0.0.6/", "http://10.0.0.5:25/", "http://[::1]/", "http://[::1]:8081/", "http://127.0.0.1:3000/"]
        {
            assert!(check(&url_policy, url).is_err(), "{url}");
        }
    }

    #[test]
    fn names_a_host_that_cannot_be_allowed() {
        for host in ["", "http://x", "::1", "a b", "x:y", "x:70000", "x/y"] {
            let error = UrlPolicy::default().allow(host).expect_err(host).to_string();
            assert!(error.starts_with(&format!("`{host}` is not a valid host: ")), "{error}");
        }
    }
}
