//! Listening sockets.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::net::SocketAddr;

use serde::Serialize;

use super::Machine;

/// A listening socket.
#[derive(Clone, Debug, Serialize)]
pub struct Listener {
    /// `tcp` or `udp`.
    pub protocol: &'static str,
    /// The bound address; `0.0.0.0` and `::` are all addresses.
    pub address: String,
    /// The port.
    pub port: u16,
    /// The well-known service of the port.
    pub known_as: Option<String>,
    /// `true` if only this machine can reach it.
    pub local_only: bool,
    /// The id of its process, if visible.
    pub pid: Option<u32>,
    /// The name of that process.
    pub process: Option<String>,
}

impl Machine {
    /// Returns the listening sockets, sorted by port.
    ///
    /// # Errors
    /// If `/proc` cannot be read.
    pub fn listeners(&self) -> io::Result<Vec<Listener>> {
        let known = known_ports(&fs::read_to_string(&self.places().ports).unwrap_or_default());
        let owners = owners();
        let sockets = listening()?;
        let names: HashMap<u32, String> =
            self.processes().into_iter().map(|process| (process.pid, process.name)).collect();
        let mut listeners: Vec<Listener> = sockets
            .into_iter()
            .map(|socket| {
                let pid = owners.get(&socket.inode).copied();
                Listener {
                    protocol: socket.protocol,
                    address: socket.address.ip().to_string(),
                    port: socket.address.port(),
                    known_as: known.get(&(socket.address.port(), socket.protocol)).cloned(),
                    local_only: socket.address.ip().is_loopback(),
                    pid,
                    process: pid.and_then(|pid| names.get(&pid).cloned()),
                }
            })
            .collect();
        listeners.sort_by(|a, b| (a.port, a.protocol, &a.address).cmp(&(b.port, b.protocol, &b.address)));
        Ok(listeners)
    }
}

struct Socket {
    protocol: &'static str,
    address: SocketAddr,
    inode: u64,
}

/// Parses lines such as `https 443/tcp`.
fn known_ports(text: &str) -> HashMap<(u16, &'static str), String> {
    let entry = |line: &str| {
        let mut words = line.split('#').next()?.split_whitespace();
        let (name, (port, protocol)) = (words.next()?, words.next()?.split_once('/')?);
        let protocol = ["tcp", "udp"].into_iter().find(|known| *known == protocol)?;
        Some(((port.parse().ok()?, protocol), name.to_owned()))
    };
    text.lines().filter_map(entry).collect()
}

#[cfg(target_os = "linux")]
fn listening() -> io::Result<Vec<Socket>> {
    use procfs::net::{TcpState, UdpState, tcp, tcp6, udp, udp6};

    let tcp = tcp().map_err(io::Error::other)?.into_iter().chain(tcp6().unwrap_or_default());
    let tcp = tcp.filter(|entry| entry.state == TcpState::Listen);
    let tcp = tcp.map(|entry| Socket { protocol: "tcp", address: entry.local_address, inode: entry.inode });
    let udp = udp().map_err(io::Error::other)?.into_iter().chain(udp6().unwrap_or_default());
    let udp = udp.filter(|entry| entry.state == UdpState::Close);
    let udp = udp.map(|entry| Socket { protocol: "udp", address: entry.local_address, inode: entry.inode });
    Ok(tcp.chain(udp).collect())
}

/// Maps sockets to processes. Only root sees those of other users.
#[cfg(target_os = "linux")]
fn owners() -> HashMap<u64, u32> {
    use procfs::process::{FDTarget, all_processes};

    let mut owners = HashMap::new();
    for process in all_processes().into_iter().flatten().flatten() {
        let Ok(pid) = u32::try_from(process.pid()) else { continue };
        for descriptor in process.fd().into_iter().flatten().flatten() {
            if let FDTarget::Socket(inode) = descriptor.target {
                owners.entry(inode).or_insert(pid);
            }
        }
    }
    owners
}

#[cfg(not(target_os = "linux"))]
fn listening() -> io::Result<Vec<Socket>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "sockets are listed on Linux only"))
}

#[cfg(not(target_os = "linux"))]
fn owners() -> HashMap<u64, u32> {
    HashMap::new()
}

#[cfg(test)]
mod tests {
    use super::known_ports;

    #[test]
    fn ports_are_read_with_their_protocol() {
        let known =
            known_ports("# names\nhttps\t\t443/tcp\t# http over TLS\ndomain 53/udp\nodd 1/sctp\nbroken x/tcp\n\n");
        assert_eq!(known.get(&(443, "tcp")).map(String::as_str), Some("https"));
        assert_eq!(known.get(&(53, "udp")).map(String::as_str), Some("domain"));
        assert_eq!(known.len(), 2);
    }
}
