//! Classification of IP addresses as public or special.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// Returns the special purpose of an address, or `None` if it is an ordinary public one.
///
/// The tables follow IANA's special-purpose address registries. For IPv6, only the global unicast range counts as
/// public, so ranges that are assigned a purpose in the future are rejected already.
pub(super) fn special_purpose(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

/// Returns `true` if an address belongs to this machine, whatever its range. Services that listen on it may expect local
/// clients only.
///
/// Connecting a UDP socket sends nothing, but selects the local address. That equals the remote address only if the
/// machine would talk to itself.
pub(super) fn is_own(address: IpAddr) -> bool {
    let unspecified: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let connected = UdpSocket::bind((unspecified, 0)).and_then(|socket| {
        socket.connect((address, DISCARD))?;
        socket.local_addr()
    });
    connected.is_ok_and(|local| local.ip() == address)
}

/// The port of the discard protocol. Nothing is sent to it.
const DISCARD: u16 = 9;

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let within = |network: Ipv4Addr, length: u32| (bits ^ network.to_bits()).checked_shr(32 - length).unwrap_or(0) == 0;
    V4.iter().find(|&&([a, b, c, d], length, _)| within(Ipv4Addr::new(a, b, c, d), length)).map(|&(_, _, name)| name)
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let within = |network: Ipv6Addr, length: u32| (bits ^ network.to_bits()) >> (128 - length) == 0;
    // An address that embeds an IPv4 address is judged by that one. IPv6-only networks reach IPv4 hosts this way.
    if within(MAPPED, 96) || within(NAT64, 96) {
        let [.., a, b, c, d] = address.octets();
        return special_v4(Ipv4Addr::new(a, b, c, d));
    }
    let listed = V6.iter().find(|&&(network, length, _)| within(network, length)).map(|&(_, _, name)| name);
    listed.or_else(|| (!within(GLOBAL, 3)).then_some("reserved"))
}

/// `::ffff:0:0/96`
const MAPPED: Ipv6Addr = Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0);
/// `64:ff9b::/96`
const NAT64: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0);
/// `2000::/3`
const GLOBAL: Ipv6Addr = v6(0x2000, 0, 0);

#[rustfmt::skip]
const V4: &[([u8; 4], u32, &str)] = &[
    ([0, 0, 0, 0],        8,  "reserved for this network"),
    ([10, 0, 0, 0],       8,  "private"),
    // Includes the metadata service of Alibaba, 100.100.100.200.
    ([100, 64, 0, 0],     10, "shared (carrier-grade NAT)"),
    ([127, 0, 0, 0],      8,  "loopback"),
    // Includes the metadata services of most clouds, 169.254.169.254.
    ([169, 254, 0, 0],    16, "link-local"),
    ([172, 16, 0, 0],     12, "private"),
    // Includes the metadata service of Oracle, 192.0.0.192.
    ([192, 0, 0, 0],      24, "reserved for protocols"),
    ([192, 0, 2, 0],      24, "reserved for documentation"),
    ([192, 88, 99, 0],    24, "a 6to4 relay"),
    ([192, 168, 0, 0],    16, "private"),
    ([198, 18, 0, 0],     15, "reserved for benchmarks"),
    ([198, 51, 100, 0],   24, "reserved for documentation"),
    ([203, 0, 113, 0],    24, "reserved for documentation"),
    // In the public range, but the virtual machine's host inside Azure.
    ([168, 63, 129, 16],  32, "Azure's metadata service"),
    ([224, 0, 0, 0],      4,  "multicast"),
    ([255, 255, 255, 255], 32, "broadcast"),
    ([240, 0, 0, 0],      4,  "reserved"),
];

#[rustfmt::skip]
const V6: &[(Ipv6Addr, u32, &str)] = &[
    (Ipv6Addr::UNSPECIFIED,    128, "unspecified"),
    (Ipv6Addr::LOCALHOST,      128, "loopback"),
    (v6(0, 0, 0),              96,  "a deprecated IPv4-compatible address"),
    // `::ffff:0:0:0/96`
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96, "a translated IPv4 address"),
    (v6(0x64, 0xff9b, 1),      48,  "reserved for translation inside a network"),
    (v6(0x100, 0, 0),          48,  "reserved for discarded traffic"),
    (v6(0x2001, 0, 0),         32,  "a tunnel (Teredo)"),
    (v6(0x2001, 2, 0),         48,  "reserved for benchmarks"),
    (v6(0x2001, 0, 0),         23,  "reserved for protocols"),
    (v6(0x2001, 0xdb8, 0),     32,  "reserved for documentation"),
    (v6(0x2002, 0, 0),         16,  "a tunnel (6to4)"),
    (v6(0x3fff, 0, 0),         20,  "reserved for documentation"),
    (v6(0x5f00, 0, 0),         16,  "reserved for routing inside a network"),
    // Includes metadata services: fd00:ec2::254 of Amazon and fd20:ce::254 of Google.
    (v6(0xfc00, 0, 0),         7,   "private"),
    (v6(0xfe80, 0, 0),         10,  "link-local"),
    (v6(0xfec0, 0, 0),         10,  "private"),
    (v6(0xff00, 0, 0),         8,   "multicast"),
];

const fn v6(a: u16, b: u16, c: u16) -> Ipv6Addr {
    Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn purpose(address: &str) -> Option<&'static str> {
        special_purpose(address.parse().expect(address))
    }

    /// The first and the last address of each special range.
    const SPECIAL: &[(&str, &str)] = &[
        ("0.0.0.0", "0.255.255.255"),
        ("10.0.0.0", "10.255.255.255"),
        ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"),
        ("169.254.0.0", "169.254.255.255"),
        ("172.16.0.0", "172.31.255.255"),
        ("192.0.0.0", "192.0.0.255"),
        ("192.0.2.0", "192.0.2.255"),
        ("192.88.99.0", "192.88.99.255"),
        ("192.168.0.0", "192.168.255.255"),
        ("198.18.0.0", "198.19.255.255"),
        ("198.51.100.0", "198.51.100.255"),
        ("203.0.113.0", "203.0.113.255"),
        ("168.63.129.16", "168.63.129.16"),
        ("224.0.0.0", "239.255.255.255"),
        ("240.0.0.0", "255.255.255.255"),
        ("::", "::1"),
        ("::2", "::ffff:ffff"),
        ("::1:0:0", "::fffe:ffff:ffff"),
        ("::ffff:0:0", "::ffff:0.255.255.255"),
        ("::ffff:10.0.0.0", "::ffff:10.255.255.255"),
        ("::ffff:127.0.0.1", "::ffff:127.255.255.255"),
        ("::ffff:169.254.169.254", "::ffff:169.254.169.254"),
        ("::ffff:0:0:0", "::ffff:0:ffff:ffff"),
        ("64:ff9b::", "64:ff9b::0.255.255.255"),
        ("64:ff9b::10.0.0.0", "64:ff9b::10.255.255.255"),
        ("64:ff9b::127.0.0.1", "64:ff9b::127.0.0.1"),
        ("64:ff9b::169.254.169.254", "64:ff9b::169.254.169.254"),
        ("64:ff9b::1:0:0", "64:ff9b:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"),
        ("100::", "100::ffff:ffff:ffff:ffff"),
        ("100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff"),
        ("1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff"),
        ("2001:10::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("4000::", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("6000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fd00:ec2::254", "fd20:ce::254"),
        ("fe00::", "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ];

    /// The neighbours of these ranges, and some well-known addresses.
    const PUBLIC: &[&str] = &[
        "1.0.0.0",
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.1.255",
        "192.0.3.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "::ffff:8.8.8.8",
        "::ffff:172.32.0.0",
        "64:ff9b::8.8.8.8",
        "2000::",
        "2001:200::",
        "2001:db7:ffff::",
        "2001:db9::",
        "2001:4860:4860::8888",
        "2003::",
        "2606:4700:4700::1111",
        "3ffe:ffff::",
        "3fff:1000::",
        "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    ];

    #[test]
    fn recognizes_special_addresses() {
        for (first, last) in SPECIAL {
            assert!(purpose(first).is_some(), "{first}");
            assert!(purpose(last).is_some(), "{last}");
        }
    }

    #[test]
    fn accepts_their_public_neighbours() {
        for address in PUBLIC {
            assert_eq!(purpose(address), None, "{address}");
        }
    }

    #[test]
    fn a_naive_check_misses_most_special_addresses() {
        // A control with the standard library's predicates: the tables are needed.
        let naive = |address: IpAddr| match address {
            IpAddr::V4(address) => address.is_private() || address.is_loopback() || address.is_link_local(),
            IpAddr::V6(address) => address.is_loopback() || address.is_unicast_link_local(),
        };
        let missed = SPECIAL.iter().filter(|(first, _)| !naive(first.parse().expect(first))).count();
        assert!(missed > SPECIAL.len() / 2, "{missed}");
    }

    #[test]
    fn recognizes_addresses_of_this_machine() {
        assert!(is_own(Ipv4Addr::LOCALHOST.into()));
        assert!(!is_own(Ipv4Addr::new(8, 8, 8, 8).into()));
    }
}
