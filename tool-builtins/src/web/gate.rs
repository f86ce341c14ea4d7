//! Which URLs may be asked for.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use url::{Host, Url};

use super::address;
use super::error::{ConfigError, FetchError, Refused};

/// How a URL that may be asked for is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Its host may have public addresses only.
    Public,
    /// Its host was allowed by the application, wherever it is.
    Allowed,
}

/// Every URL passes here, those of redirections too.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate {
    allowed: Vec<Allowed>,
}

/// A host that the application allows.
#[derive(Clone, Debug)]
struct Allowed {
    host: Host,
    port: Option<u16>,
}

impl Gate {
    /// Allows a host, `name`, `name:port`, `1.2.3.4` or `[::1]:8080`.
    pub(super) fn allow(&mut self, text: &str) -> Result<(), ConfigError> {
        let wrong = |why: &str| ConfigError::new(format!("`{text}` is no host to allow: {why}"));
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, Some(port.parse().map_err(|_| wrong("write `host` or `host:port`, and IPv6 in brackets"))?))
            }
            _ => (text, None),
        };
        let host = Host::parse(host).map_err(|error| wrong(&error.to_string()))?;
        self.allowed.push(Allowed { host, port });
        Ok(())
    }

    /// Whether a URL may be asked for. What its name stands for is looked at when it is resolved.
    pub(super) fn check(&self, url: &Url) -> Result<Way, FetchError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(FetchError::Scheme(url.scheme().to_owned()));
        }
        // `http://known.example@other.example/` leads to the other one.
        if !url.username().is_empty() || url.password().is_some() {
            return Err(FetchError::UserInfo);
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(FetchError::Scheme("a URL without a host".to_owned()));
        };
        let allowed = self.allowed.iter().filter(|allowed| allowed.host == host);
        let (ports, hosts): (Vec<_>, Vec<_>) = allowed.partition(|allowed| allowed.port.is_some());
        if ports.iter().any(|allowed| allowed.port == Some(port)) {
            return Ok(Way::Allowed);
        }
        if !is_of_the_web(port) {
            return Err(FetchError::Port(port));
        }
        if !hosts.is_empty() {
            return Ok(Way::Allowed);
        }
        match literal(&host) {
            Some(address) => check_address(address, &host.to_string()).map(|()| Way::Public).map_err(FetchError::from),
            None => Ok(Way::Public),
        }
    }
}

/// The address that a host is, if it is one. The parser has brought all ways of writing one to the same form; that a
/// name could still be read as an address is only looked at to be sure.
fn literal(host: &Host<&str>) -> Option<IpAddr> {
    match host {
        Host::Ipv4(address) => Some((*address).into()),
        Host::Ipv6(address) => Some((*address).into()),
        Host::Domain(name) => name.trim_end_matches('.').parse().ok(),
    }
}

/// Whether an address may be reached.
pub(super) fn check_address(address: IpAddr, host: &str) -> Result<(), Refused> {
    let own = || address::is_own(address).then_some("one of this machine");
    match address::special(address).or_else(own) {
        Some(why) => Err(Refused { host: host.to_owned(), address, why }),
        None => Ok(()),
    }
}

/// Whether a port can be one of the web. Below 1024 only two are; above, pages are served anywhere, and those are
/// refused that no browser asks either, since another protocol is spoken there that could take a request for its own.
fn is_of_the_web(port: u16) -> bool {
    match port {
        80 | 443 => true,
        ..1024 => false,
        _ => !OTHER_PROTOCOLS.iter().any(|ports| ports.contains(&port)),
    }
}

/// The ports above 1023 that the Fetch standard blocks.
const OTHER_PROTOCOLS: &[RangeInclusive<u16>] = &[
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

    fn check(gate: &Gate, url: &str) -> Result<Way, String> {
        gate.check(&Url::parse(url).expect(url)).map_err(|error| error.to_string())
    }

    fn allowing(hosts: &[&str]) -> Gate {
        let mut gate = Gate::default();
        hosts.iter().for_each(|host| gate.allow(host).expect(host));
        gate
    }

    #[test]
    fn every_way_of_writing_a_special_address_is_refused() {
        let gate = Gate::default();
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
            let refused = check(&gate, &format!("http://{host}/")).expect_err(host);
            assert!(refused.contains("not on the public internet"), "{host}: {refused}");
        }
    }

    #[test]
    fn what_the_parser_takes_for_no_address_is_no_url() {
        for host in ["127.0.0.1.2", "256.0.0.1", "0x100000000", "[::1%25lo]", "1.2.3.4.5.6", "127.0.0.08"] {
            assert!(Url::parse(&format!("http://{host}/")).is_err(), "{host}");
        }
    }

    #[test]
    fn other_schemes_and_credentials_are_refused() {
        let gate = Gate::default();
        for url in
            ["ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "data:text/plain,x", "javascript:1"]
        {
            assert!(check(&gate, url).expect_err(url).starts_with("Only http and https"), "{url}");
        }
        for url in
            ["http://example.com@127.0.0.1/", "http://user:secret@example.com/", "http://127.0.0.1:80@example.com/"]
        {
            assert!(check(&gate, url).expect_err(url).contains('@'), "{url}");
        }
        // What looks like a user to a careless reader is a host, or the other way round.
        assert!(check(&gate, r"http://127.0.0.1\@example.com/").is_err());
        assert!(check(&gate, "http://127.0.0.1#@example.com/").is_err());
    }

    #[test]
    fn ports_are_those_of_the_web() {
        let gate = Gate::default();
        for port in [80, 443, 1024, 3000, 8000, 8080, 8443, 65535] {
            assert_eq!(check(&gate, &format!("http://example.com:{port}/")), Ok(Way::Public));
        }
        for port in [0, 21, 22, 25, 79, 81, 442, 444, 1023, 5060, 6667, 10080] {
            assert!(check(&gate, &format!("http://example.com:{port}/")).is_err(), "{port}");
        }
    }

    #[test]
    fn what_is_allowed_is_the_host_and_nothing_like_it() {
        let gate = allowing(&["localhost:3000", "10.0.0.5", "[::1]:8080", "Intranet.Example", "web.example:25"]);
        for url in [
            "http://localhost:3000/a",
            "http://LOCALHOST:3000/",
            "http://10.0.0.5/",
            "http://0xa000005:8080/",
            "https://[::1]:8080/",
            "https://intranet.example/",
            "http://web.example:25/",
        ] {
            assert_eq!(check(&gate, url), Ok(Way::Allowed), "{url}");
        }
        for url in [
            "http://localhost:3001/",
            "http://localhost/",
            "http://x.localhost:3000/",
            "http://localhost.:3000/",
            "http://intranet.example.org/",
        ] {
            assert_eq!(check(&gate, url), Ok(Way::Public), "{url}");
        }
        for url in
            ["http://10.0.0.6/", "http://10.0.0.5:25/", "http://[::1]/", "http://[::1]:8081/", "http://127.0.0.1:3000/"]
        {
            assert!(check(&gate, url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_host_that_cannot_be_allowed_is_named() {
        for host in ["", "http://x", "::1", "a b", "x:y", "x:70000", "x/y"] {
            let error = Gate::default().allow(host).expect_err(host).to_string();
            assert!(error.starts_with(&format!("`{host}` is no host to allow: ")), "{error}");
        }
    }
}
