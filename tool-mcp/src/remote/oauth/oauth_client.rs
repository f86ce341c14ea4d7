//! The application as a client of an authorization server.

use std::sync::Arc;

use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationMetadata, ClientCredentialsConfig,
    CredentialStore, OAuthClientConfig, StoredCredentials,
};
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

use super::OAuth;
use super::authorization_server::{AuthorizationServer, check_issuer, is_same_issuer, published_metadata};
use super::challenge::Challenge;
use super::token_store::SharedStore;

/// The client of the authorization server that issues the tokens for one server.
pub(super) struct OAuthClient {
    url: String,
    oauth: OAuth,
    store: Arc<dyn CredentialStore>,
    manager: AuthorizationManager,
    /// The name of the authorization server with which the client is registered.
    registered_with: Option<String>,
    /// The redirect URI that rmcp is configured with; `None` until the client is configured.
    redirect_uri: Option<String>,
}

impl OAuthClient {
    pub(super) async fn new(url: &str, oauth: &OAuth) -> Result<Self, AuthError> {
        // rmcp's own HTTP client uses the process-wide TLS provider.
        tool_net::tls::install_default_provider();
        let mut manager = match oauth.private_addresses {
            true => AuthorizationManager::new_allowing_private_addresses(url).await?,
            false => AuthorizationManager::new(url).await?,
        };
        let store = oauth.store.for_url(url);
        manager.set_credential_store(SharedStore(store.clone()));
        let (url, oauth) = (url.to_owned(), oauth.clone());
        let mut client = Self { url, oauth, store, manager, registered_with: None, redirect_uri: None };
        client.load_stored().await?;
        Ok(client)
    }

    /// Loads the stored credentials. Their issuer knows the client, even if they have expired.
    async fn load_stored(&mut self) -> Result<Option<StoredCredentials>, AuthError> {
        let stored = self.store.load().await?;
        let issuer = stored.as_ref().and_then(|stored| stored.issuer.clone());
        self.registered_with = self.registered_with.take().or(issuer);
        Ok(stored)
    }

    /// Returns the current token, refreshed if necessary, or the error `AuthorizationRequired`.
    pub(super) async fn token(&mut self) -> Result<String, AuthError> {
        match self.manager.get_access_token().await {
            // The token must be refreshed, and rmcp is not configured yet.
            Err(AuthError::InternalError(_)) if self.redirect_uri.is_none() => {
                self.restore().await?;
                self.manager.get_access_token().await
            }
            token => token,
        }
    }

    /// Gets a token other than the rejected one, unless there already is one.
    pub(super) async fn renew(&mut self, rejected: &str) -> Result<(), AuthError> {
        if self.token().await? != rejected {
            return Ok(());
        }
        if self.redirect_uri.is_none() {
            self.restore().await?;
        }
        self.manager.refresh_token().await.map(drop)
    }

    /// Configures the client to which the stored tokens were issued, for the issuer of those tokens only.
    async fn restore(&mut self) -> Result<(), AuthError> {
        let stored = self.load_stored().await?.filter(|stored| stored.token_response.is_some());
        let stored = stored.ok_or(AuthError::AuthorizationRequired)?;
        let named = self.manager.resolve_metadata().await?.metadata;
        let metadata = self.verified_metadata(named, Some(&stored)).await?;
        let identity = &self.oauth.identity;
        // If the authorization server is another one, or is not trusted, the next login reports it.
        let issued_them = |server: &AuthorizationServer| {
            [&self.registered_with, &stored.issuer].into_iter().flatten().all(|name| server.has_name(name))
        };
        let server = AuthorizationServer::new(&metadata, &self.url, identity).ok().filter(issued_them);
        let server = server.ok_or(AuthError::AuthorizationRequired)?;
        self.manager.set_metadata(metadata);
        match &identity.id {
            Some(id) => identity.configure_as(&mut self.manager, id, &self.url)?,
            None => self.manager.configure_client_id(&stored.client_id)?,
        }
        self.registered_with = Some(server.name);
        // rmcp requires a redirect URI, although a refresh does not use it.
        self.redirect_uri = Some(self.url.clone());
        Ok(())
    }

    /// Verifies the metadata that the server names. If its issuer is a trusted one, the metadata is fetched from that
    /// issuer, because a server can name metadata that only claims to be the issuer's.
    async fn verified_metadata(
        &self,
        named: AuthorizationMetadata,
        stored: Option<&StoredCredentials>,
    ) -> Result<AuthorizationMetadata, AuthError> {
        let Some(issuer) = &named.issuer else { return Ok(named) };
        let stored_issuer = stored.and_then(|stored| stored.issuer.as_ref());
        let trusted = [self.oauth.identity.issuer.as_ref(), self.registered_with.as_ref(), stored_issuer];
        match trusted.into_iter().flatten().any(|name| is_same_issuer(name, issuer)) {
            true => published_metadata(issuer).await,
            false => Ok(named),
        }
    }

    /// Returns the URL where a user can meet the challenge, and the name of the authorization server.
    pub(super) async fn login_url(
        &mut self,
        challenge: &Challenge,
        redirect_uri: &str,
    ) -> Result<(String, String), AuthError> {
        let (server, scopes) = self.discover(challenge).await?;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let is_configured =
            self.registered_with.as_ref() == Some(&server.name) && self.redirect_uri.as_deref() == Some(redirect_uri);
        if !is_configured {
            self.redirect_uri = None;
            let identity = &self.oauth.identity;
            identity.register(&mut self.manager, server.takes_metadata_urls, redirect_uri, &scopes).await?;
            self.registered_with = Some(server.name.clone());
            self.redirect_uri = Some(redirect_uri.to_owned());
        }
        Ok((self.manager.get_authorization_url(&scopes).await?, server.name))
    }

    /// Determines the authorization server and the scopes to request.
    async fn discover(&mut self, challenge: &Challenge) -> Result<(AuthorizationServer, Vec<String>), AuthError> {
        let named = self.manager.resolve_metadata_from_challenge(Some(&challenge.header)).await?.metadata;
        let stored = self.load_stored().await?;
        let metadata = self.verified_metadata(named, stored.as_ref()).await?;
        let identity = &self.oauth.identity;
        let server = AuthorizationServer::new(&metadata, &self.url, identity)?;
        // A configured issuer has been checked by `AuthorizationServer::new`.
        let is_bound = identity.id.is_some() && identity.issuer.is_none();
        if let Some(known) = self.registered_with.as_ref().filter(|_| is_bound) {
            check_issuer(known, Some(&server.name))?;
        }
        let mut granted = Vec::new();
        if let Some(stored) = stored {
            let issuer = stored.issuer.as_ref().or(self.registered_with.as_ref());
            match issuer.is_none_or(|issuer| server.has_name(issuer)) {
                true => granted = stored.granted_scopes,
                // Tokens of one authorization server are not sent to another.
                false => self.store.clear().await?,
            }
        }
        self.manager.set_metadata(metadata);
        let suggested = self.manager.select_initial_scopes(&[]).await;
        let scopes = match &*self.oauth.scopes {
            scopes if challenge.needs_more_scopes() => union([scopes, &granted, &suggested]),
            [] => suggested,
            scopes => scopes.to_vec(),
        };
        Ok((server, scopes))
    }

    /// Exchanges the authorization code of a login for a token.
    pub(super) async fn exchange_code(&self, callback: &AuthorizationCallback) -> Result<(), AuthError> {
        let (code, issuer) = (&callback.code, callback.issuer.as_deref());
        let exchange = self.manager.exchange_code_for_token_with_issuer(code, &callback.csrf_token, issuer);
        without_logging(exchange).await.map(drop)
    }

    /// Gets a token with the client credentials.
    pub(super) async fn exchange_credentials(&mut self, challenge: &Challenge) -> Result<(), AuthError> {
        let (server, scopes) = self.discover(challenge).await?;
        let identity = &self.oauth.identity;
        let credentials = ClientCredentialsConfig::ClientSecret {
            client_id: identity.id.clone().unwrap_or_default(),
            client_secret: identity.secret.clone().unwrap_or_default(),
            scopes,
            resource: Some(self.url.clone()),
        };
        self.manager.validate_client_credentials_metadata(&credentials)?;
        self.manager.configure_client_credentials(&credentials)?;
        self.registered_with = Some(server.name);
        self.redirect_uri = Some(self.url.clone());
        without_logging(self.manager.exchange_client_credentials(&credentials)).await.map(drop)
    }
}

/// Returns all scopes, without duplicates.
fn union(scopes: [&[String]; 3]) -> Vec<String> {
    let mut union = Vec::new();
    for scope in scopes.into_iter().flatten() {
        if !union.contains(scope) {
            union.push(scope.clone());
        }
    }
    union
}

/// Suppresses rmcp's log messages, which contain the code and the tokens.
fn without_logging<F: Future>(exchange: F) -> impl Future<Output = F::Output> {
    exchange.with_subscriber(NoSubscriber::default())
}

/// The configured identity of the application.
#[derive(Clone, Default, PartialEq)]
pub(in crate::remote) struct ClientIdentity {
    pub(super) id: Option<String>,
    pub(super) secret: Option<String>,
    pub(super) metadata_url: Option<String>,
    pub(super) name: Option<String>,
    /// The issuer of the authorization server where the application is registered.
    pub(super) issuer: Option<String>,
}

impl ClientIdentity {
    /// Configures the client: by its id, by the URL of its metadata, or else by dynamic registration.
    pub(super) async fn register(
        &self,
        manager: &mut AuthorizationManager,
        takes_metadata_urls: bool,
        redirect_uri: &str,
        scopes: &[&str],
    ) -> Result<(), AuthError> {
        if let Some(id) = &self.id {
            return self.configure_as(manager, id, redirect_uri);
        }
        if let Some(url) = self.metadata_url.as_ref().filter(|_| takes_metadata_urls) {
            if !url.starts_with("https://") {
                return Err(AuthError::RegistrationFailed(format!("the client metadata URL {url} must use HTTPS")));
            }
            return manager.configure_client(OAuthClientConfig::new(url, redirect_uri));
        }
        let name = self.name.as_deref().unwrap_or("MCP client");
        manager.register_client(name, redirect_uri, scopes).await.map(drop)
    }

    /// Configures a client id, with the secret if there is one.
    pub(super) fn configure_as(
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
