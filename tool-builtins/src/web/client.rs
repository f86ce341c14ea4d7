//! The connections.

use std::sync::Arc;

use reqwest::{Client, ClientBuilder, Proxy, redirect};

use super::gate::Way;
use super::limits::Limits;
use super::resolver::{Addresses, Resolver};

/// Two clients that share nothing, so that no connection to an allowed host is ever used for another.
pub(super) struct Clients {
    public: Client,
    allowed: Client,
}

impl Clients {
    pub(super) fn new(
        resolver: &Arc<dyn Resolver>,
        proxy: Option<Proxy>,
        limits: &Limits,
        user_agent: &str,
    ) -> reqwest::Result<Self> {
        let client = |public_only| {
            let addresses = Addresses { resolver: resolver.clone(), public_only };
            bare(user_agent).connect_timeout(limits.connect).dns_resolver(addresses)
        };
        let public = match proxy {
            // The proxy itself may stand anywhere, and resolves all other names.
            Some(proxy) => client(false).proxy(proxy),
            None => client(true),
        };
        Ok(Self { public: public.build()?, allowed: client(false).build()? })
    }

    pub(super) fn of(&self, way: Way) -> &Client {
        match way {
            Way::Public => &self.public,
            Way::Allowed => &self.allowed,
        }
    }
}

/// A client that does nothing on its own: it follows no redirection, asks no proxy that the environment names (which
/// would resolve names for us, unchecked), keeps no cookies and tells nobody where it came from.
fn bare(user_agent: &str) -> ClientBuilder {
    Client::builder().redirect(redirect::Policy::none()).referer(false).no_proxy().user_agent(user_agent)
}
