//! The connections.

use std::sync::Arc;

use reqwest::{Client, ClientBuilder, Proxy, redirect};

use super::error::reason;
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
    ) -> Result<Self, String> {
        let client = |public_only, proxy: Option<Proxy>| {
            let addresses = Addresses { resolver: resolver.clone(), public_only };
            build(|client| {
                let client = client.user_agent(user_agent).connect_timeout(limits.connect).dns_resolver(addresses);
                proxy.into_iter().fold(client, ClientBuilder::proxy)
            })
        };
        // A proxy may stand anywhere itself, and resolves all other names.
        Ok(Self { public: client(proxy.is_none(), proxy)?, allowed: client(false, None)? })
    }

    pub(super) fn of(&self, way: Way) -> &Client {
        match way {
            Way::Public => &self.public,
            Way::Allowed => &self.allowed,
        }
    }
}

/// A client that does nothing on its own: it follows no redirection, asks no proxy that the environment names (which
/// would resolve names for us, unchecked), keeps no cookies and tells nobody where it came from. Or else, in words, why
/// there is none.
pub(super) fn build(set: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Result<Client, String> {
    let tls = tool_net::tls::client_config().map_err(|error| error.to_string())?;
    let client = Client::builder().tls_backend_preconfigured(tls).redirect(redirect::Policy::none()).referer(false);
    set(client.no_proxy()).build().map_err(|error| reason(&error))
}
