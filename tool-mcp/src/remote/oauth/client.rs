//! We, as a client of an authorization server.

use std::sync::Arc;

use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationMetadata, ClientCredentialsConfig,
    CredentialStore, StoredCredentials,
};
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

use super::OAuth;
use super::authority::{Authority, expected_one, is_same};
use super::challenge::Challenge;
use super::published::published;
use super::store::Shared;

/// A client of the authorization server that gives out the tokens for one server.
pub(super) struct Client {
    url: String,
    oauth: OAuth,
    store: Arc<dyn CredentialStore>,
    manager: AuthorizationManager,
    /// The authorization server that knows us, by its name.
    known: Option<String>,
    /// Where rmcp has people come back to; nothing as long as it was not told who we are.
    redirect_uri: Option<String>,
}

impl Client {
    pub(super) async fn new(url: &str, oauth: &OAuth) -> Result<Self, AuthError> {
        // rmcp's own client for this takes whatever the process has.
        tool_net::tls::install_default_provider();
        let mut manager = match oauth.private_addresses {
            true => AuthorizationManager::new_allowing_private_addresses(url).await?,
            false => AuthorizationManager::new(url).await?,
        };
        let store = oauth.store.of(url);
        manager.set_credential_store(Shared(store.clone()));
        let (url, oauth) = (url.to_owned(), oauth.clone());
        let mut client = Self { url, oauth, store, manager, known: None, redirect_uri: None };
        client.stored().await?;
        Ok(client)
    }

    /// What is stored. Whoever has given it out knows us, whatever becomes of it.
    async fn stored(&mut self) -> Result<Option<StoredCredentials>, AuthError> {
        let stored = self.store.load().await?;
        let issuer = stored.as_ref().and_then(|stored| stored.issuer.clone());
        self.known = self.known.take().or(issuer);
        Ok(stored)
    }

    /// The token to send, renewed if it has to be; `AuthorizationRequired` where there is none.
    pub(super) async fn token(&mut self) -> Result<String, AuthError> {
        match self.manager.get_access_token().await {
            // It has to be renewed, and rmcp does not know by whom.
            Err(AuthError::InternalError(_)) if self.redirect_uri.is_none() => {
                self.recall().await?;
                self.manager.get_access_token().await
            }
            token => token,
        }
    }

    /// Gets another token than the one that was refused, unless that is there already.
    pub(super) async fn renew(&mut self, refused: &str) -> Result<(), AuthError> {
        if self.token().await? != refused {
            return Ok(());
        }
        if self.redirect_uri.is_none() {
            self.recall().await?;
        }
        self.manager.refresh_token().await.map(drop)
    }

    /// Becomes the client again that the stored tokens were given to, at the one who gave them out and nowhere else.
    async fn recall(&mut self) -> Result<(), AuthError> {
        let stored = self.stored().await?.filter(|stored| stored.token_response.is_some());
        let stored = stored.ok_or(AuthError::AuthorizationRequired)?;
        let named = self.manager.resolve_metadata().await?.metadata;
        let metadata = self.confirmed(named, Some(&stored)).await?;
        let identity = &self.oauth.identity;
        // Where it is another, or none to be believed, a login says so.
        let gave_them =
            |server: &Authority| [&self.known, &stored.issuer].into_iter().flatten().all(|name| server.is(name));
        let server = Authority::new(&metadata, &self.url, identity).ok().filter(gave_them);
        let server = server.ok_or(AuthError::AuthorizationRequired)?;
        self.manager.set_metadata(metadata);
        match &identity.id {
            Some(id) => identity.known_as(&mut self.manager, id, &self.url)?,
            None => self.manager.configure_client_id(&stored.client_id)?,
        }
        self.known = Some(server.name);
        // Nobody is sent anywhere for a token that is renewed, but rmcp wants to know where to.
        self.redirect_uri = Some(self.url.clone());
        Ok(())
    }

    /// What the server names. Where somebody is believed for their name, it is what they publish under it: a server can
    /// name one that takes the name of another.
    async fn confirmed(
        &self,
        named: AuthorizationMetadata,
        stored: Option<&StoredCredentials>,
    ) -> Result<AuthorizationMetadata, AuthError> {
        let Some(issuer) = &named.issuer else { return Ok(named) };
        let giver = stored.and_then(|stored| stored.issuer.as_ref());
        let believed = [self.oauth.identity.issuer.as_ref(), self.known.as_ref(), giver];
        match believed.into_iter().flatten().any(|name| is_same(name, issuer)) {
            true => published(issuer).await,
            false => Ok(named),
        }
    }

    /// The URL at which a person can meet the challenge, and the name of the authorization server there.
    pub(super) async fn login_url(
        &mut self,
        challenge: &Challenge,
        redirect_uri: &str,
    ) -> Result<(String, String), AuthError> {
        let (server, scopes) = self.discover(challenge).await?;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let introduced =
            self.known.as_ref() == Some(&server.name) && self.redirect_uri.as_deref() == Some(redirect_uri);
        if !introduced {
            self.redirect_uri = None;
            let identity = &self.oauth.identity;
            identity.introduce(&mut self.manager, server.takes_metadata_urls, redirect_uri, &scopes).await?;
            self.known = Some(server.name.clone());
            self.redirect_uri = Some(redirect_uri.to_owned());
        }
        Ok((self.manager.get_authorization_url(&scopes).await?, server.name))
    }

    /// Finds out from the challenge where a login is possible, and what for.
    async fn discover(&mut self, challenge: &Challenge) -> Result<(Authority, Vec<String>), AuthError> {
        let named = self.manager.resolve_metadata_from_challenge(Some(&challenge.header)).await?.metadata;
        let stored = self.stored().await?;
        let metadata = self.confirmed(named, stored.as_ref()).await?;
        let identity = &self.oauth.identity;
        let server = Authority::new(&metadata, &self.url, identity)?;
        // Whoever is named by the application has been checked.
        let told_to_one = identity.id.is_some() && identity.issuer.is_none();
        if let Some(known) = self.known.as_ref().filter(|_| told_to_one) {
            expected_one(known, Some(&server.name))?;
        }
        let mut granted = Vec::new();
        if let Some(stored) = stored {
            let giver = stored.issuer.as_ref().or(self.known.as_ref());
            match giver.is_none_or(|giver| server.is(giver)) {
                true => granted = stored.granted_scopes,
                // Tokens of the one are no business of the other.
                false => self.store.clear().await?,
            }
        }
        self.manager.set_metadata(metadata);
        let suggested = self.manager.select_initial_scopes(&[]).await;
        let scopes = match &*self.oauth.scopes {
            scopes if challenge.asks_for_more() => union([scopes, &granted, &suggested]),
            [] => suggested,
            scopes => scopes.to_vec(),
        };
        Ok((server, scopes))
    }

    /// Trades what somebody has brought back from a login for a token.
    pub(super) async fn trade(&self, back: &AuthorizationCallback) -> Result<(), AuthError> {
        let (code, issuer) = (&back.code, back.issuer.as_deref());
        let traded = self.manager.exchange_code_for_token_with_issuer(code, &back.csrf_token, issuer);
        unlogged(traded).await.map(drop)
    }

    /// Logs in as the application itself.
    pub(super) async fn present(&mut self, challenge: &Challenge) -> Result<(), AuthError> {
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
        self.known = Some(server.name);
        self.redirect_uri = Some(self.url.clone());
        unlogged(self.manager.exchange_client_credentials(&credentials)).await.map(drop)
    }
}

/// All of them once, in their order.
fn union(scopes: [&[String]; 3]) -> Vec<String> {
    let mut union = Vec::new();
    for scope in scopes.into_iter().flatten() {
        if !union.contains(scope) {
            union.push(scope.clone());
        }
    }
    union
}

/// rmcp writes the code and what comes for it, such as a token with the person's name, into the log.
fn unlogged<F: Future>(traded: F) -> impl Future<Output = F::Output> {
    traded.with_subscriber(NoSubscriber::default())
}
