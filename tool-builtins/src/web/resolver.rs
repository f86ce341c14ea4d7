//! From names to addresses that may be reached.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::error::Refused;
use super::gate::check_address;

/// Finds the addresses of a host.
///
/// Whatever it answers is checked, and the connection goes to what was checked: it is asked once for a connection.
pub trait Resolver: Send + Sync + 'static {
    /// The addresses of a name.
    fn resolve<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;
}

/// Asks the system, as other programs do.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.map(|found| found.ip()).collect()) })
    }
}

/// Gives the client the addresses to connect to.
pub(super) struct Addresses {
    pub(super) resolver: Arc<dyn Resolver>,
    /// Whether those that are not public are left out.
    pub(super) public_only: bool,
}

impl Resolve for Addresses {
    fn resolve(&self, name: Name) -> Resolving {
        let (resolver, public_only) = (self.resolver.clone(), self.public_only);
        Box::pin(async move {
            let found = resolver.resolve(name.as_str()).await?;
            let found = if public_only { public(found, name.as_str())? } else { found };
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

/// The public ones among the addresses of a host. If it has none, it is refused.
fn public(found: Vec<IpAddr>, host: &str) -> Result<Vec<IpAddr>, Refused> {
    let mut refused = None;
    let mut public = Vec::with_capacity(found.len());
    for address in found {
        match check_address(address, host) {
            Ok(()) => public.push(address),
            Err(error) => refused = Some(error),
        }
    }
    match refused {
        Some(refused) if public.is_empty() => Err(refused),
        _ => Ok(public),
    }
}
