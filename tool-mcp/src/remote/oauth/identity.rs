//! Who the application is, for an authorization server.

use rmcp::transport::auth::{AuthError, AuthorizationManager, OAuthClientConfig};

/// What is known of the application beforehand.
#[derive(Clone, Default, PartialEq)]
pub(in crate::remote) struct Identity {
    pub(super) id: Option<String>,
    pub(super) secret: Option<String>,
    pub(super) metadata_url: Option<String>,
    pub(super) name: Option<String>,
    /// The authorization server that knows it, by its issuer.
    pub(super) issuer: Option<String>,
}

impl Identity {
    /// Says who we are: by the id that we have, by the URL of our metadata, or else by registering.
    pub(super) async fn introduce(
        &self,
        manager: &mut AuthorizationManager,
        takes_metadata_urls: bool,
        redirect_uri: &str,
        scopes: &[&str],
    ) -> Result<(), AuthError> {
        if let Some(id) = &self.id {
            return self.known_as(manager, id, redirect_uri);
        }
        if let Some(url) = self.metadata_url.as_ref().filter(|_| takes_metadata_urls) {
            if !url.starts_with("https://") {
                return Err(AuthError::RegistrationFailed(format!(
                    "the metadata at {url} is not published over HTTPS"
                )));
            }
            return manager.configure_client(OAuthClientConfig::new(url, redirect_uri));
        }
        let name = self.name.as_deref().unwrap_or("MCP client");
        manager.register_client(name, redirect_uri, scopes).await.map(drop)
    }

    /// The client of an id, with our secret if there is one.
    pub(super) fn known_as(
        &self,
        manager: &mut AuthorizationManager,
        id: &str,
        redirect_uri: &str,
    ) -> Result<(), AuthError> {
        let mut client = OAuthClientConfig::new(id, redirect_uri);
        client.client_secret.clone_from(&self.secret);
        manager.configure_client(client)
    }
}
