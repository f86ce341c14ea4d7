//! HTTP clients, and the resolver that checks the addresses they connect to.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, ClientBuilder, Proxy, redirect};

use super::error::{PrivateHost, describe};
use super::fetch::FetchLimits;
use super::url_policy::{HostAccess, check_address};

/// Two separate clients, so that a connection to an allowed host is never reused for another host.
pub(super) struct HttpClients {
    public: Client,
    allowed: Client,
}

impl HttpClients {
    pub(super) fn new(
        resolver: &Arc<dyn Resolver>,
        proxy: Option<Proxy>,
        limits: &FetchLimits,
        user_agent: &str,
    ) -> Result<Self, String> {
        let client = |public_only, proxy: Option<Proxy>| {
            let addresses = CheckedResolver { resolver: resolver.clone(), public_only };
            build(|client| {
                let client =
                    client.user_agent(user_agent).connect_timeout(limits.connect_timeout).dns_resolver(addresses);
                proxy.into_iter().fold(client, ClientBuilder::proxy)
            })
        };
        // The proxy itself may have any address, and resolves all other names.
        Ok(Self { public: client(proxy.is_none(), proxy)?, allowed: client(false, None)? })
    }

    pub(super) fn for_access(&self, access: HostAccess) -> &Client {
        match access {
            HostAccess::Public => &self.public,
            HostAccess::Allowed => &self.allowed,
        }
    }
}

/// Builds a client that follows no redirects, keeps no cookies and sends no referrer. It ignores proxies from the
/// environment, which would resolve names without our checks.
pub(super) fn build(set: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Result<Client, String> {
    let tls = tool_net::tls::client_config().map_err(|error| error.to_string())?;
    let client = Client::builder().tls_backend_preconfigured(tls).redirect(redirect::Policy::none()).referer(false);
    set(client.no_proxy()).build().map_err(|error| describe(&error))
}

/// Resolves host names.
///
/// It is called once per connection. Its addresses are checked, and the connection goes to a checked address.
pub trait Resolver: Send + Sync + 'static {
    /// Returns the addresses of a name.
    fn resolve<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;
}

/// The resolver of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.map(|found| found.ip()).collect()) })
    }
}

/// Resolves names for the HTTP client, and checks the addresses.
pub(super) struct CheckedResolver {
    pub(super) resolver: Arc<dyn Resolver>,
    /// `true` to leave out non-public addresses.
    pub(super) public_only: bool,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (resolver, public_only) = (self.resolver.clone(), self.public_only);
        Box::pin(async move {
            let found = resolver.resolve(name.as_str()).await?;
            let found = if public_only { public_addresses(found, name.as_str())? } else { found };
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

/// Returns the public addresses of a host, or an error if there are none.
fn public_addresses(found: Vec<IpAddr>, host: &str) -> Result<Vec<IpAddr>, PrivateHost> {
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
