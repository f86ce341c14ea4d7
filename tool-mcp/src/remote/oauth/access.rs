//! The tokens for one server, from one connection to the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rmcp::transport::auth::{
    AuthError, AuthorizationManager, ClientCredentialsConfig, CredentialStore, WWWAuthenticateParams,
};
use tokio::sync::{Mutex, OnceCell};
use tokio::time::timeout;
use tokio_util::sync::DropGuard;
use tool_runtime::CancellationToken;
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;
use url::Url;

use super::authority::{Authority, expected_one};
use super::person::{Visiting, WayBack};
use super::store::Shared;
use super::{Grant, OAuth, returned};
use crate::remote::transport::install_tls;

/// Gets tokens, refreshes them, and asks for more.
pub(crate) struct Access {
    url: String,
    oauth: OAuth,
    store: Arc<dyn CredentialStore>,
    manager: OnceCell<Mutex<AuthorizationManager>>,
    /// Held while somebody logs in: one login is enough for all calls that wait for it.
    login: Mutex<Login>,
    logins: AtomicU64,
    asking: AtomicBool,
    asked: AtomicBool,
    /// No server is configured with this any more.
    unwanted: CancellationToken,
}

#[derive(Default)]
struct Login {
    /// The authorization server that knows us as a client.
    introduced_to: Option<String>,
    /// The challenge that was not met, and why: nobody is asked twice for the same.
    unmet: Option<(String, String)>,
}

impl Access {
    pub(crate) fn new(url: String, oauth: OAuth) -> Self {
        Self {
            store: oauth.store.of(&url),
            url,
            oauth,
            manager: OnceCell::new(),
            login: Mutex::default(),
            logins: AtomicU64::new(0),
            asking: AtomicBool::new(false),
            asked: AtomicBool::new(false),
            unwanted: CancellationToken::new(),
        }
    }

    /// While this is kept, logins are waited for.
    pub(crate) fn wanted(&self) -> DropGuard {
        self.unwanted.clone().drop_guard()
    }

    pub(crate) fn oauth(&self) -> &OAuth {
        &self.oauth
    }

    /// Whether somebody is being asked, or was since this was last called.
    pub(in crate::remote) fn was_asking(&self) -> bool {
        self.asked.swap(false, Ordering::AcqRel) || self.asking.load(Ordering::Acquire)
    }

    /// How many logins there were.
    pub(in crate::remote) fn logins(&self) -> u64 {
        self.logins.load(Ordering::Acquire)
    }

    async fn manager(&self) -> Result<&Mutex<AuthorizationManager>, AuthError> {
        let make = || async {
            // rmcp's own client for this takes whatever the process has.
            install_tls();
            let mut manager = match self.oauth.private_addresses {
                true => AuthorizationManager::new_allowing_private_addresses(&*self.url).await?,
                false => AuthorizationManager::new(&*self.url).await?,
            };
            manager.set_credential_store(Shared(self.store.clone()));
            let (identity, grant) = (&self.oauth.identity, &self.oauth.grant);
            if self.store.load().await?.is_some_and(|stored| stored.token_response.is_some()) {
                let metadata = manager.resolve_metadata().await?.metadata;
                Authority::new(&metadata, &self.url, identity)?;
                manager.set_metadata(metadata);
            }
            if manager.initialize_from_store().await?
                && let (Some(id), Grant::Person(_)) = (&identity.id, grant)
            {
                // Nobody is sent anywhere for a token that is refreshed, but rmcp wants to know where to.
                identity.known_as(&mut manager, id, &self.url)?;
            }
            Ok(Mutex::new(manager))
        };
        self.manager.get_or_try_init(make).await
    }

    /// The token to send, if there is one by now.
    pub(in crate::remote) async fn token(&self) -> Result<Option<String>, AuthError> {
        match self.manager().await?.lock().await.get_access_token().await {
            Ok(token) => Ok(Some(token)),
            Err(AuthError::AuthorizationRequired) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether there is another token now than the one that was refused.
    pub(in crate::remote) async fn refresh(&self, refused: &str) -> Result<bool, AuthError> {
        let manager = self.manager().await?.lock().await;
        if manager.get_access_token().await.is_ok_and(|token| token != refused) {
            return Ok(true);
        }
        match manager.refresh_token().await {
            Ok(_) => Ok(true),
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Meets the server's challenge, unless that was done since `seen` logins were counted.
    pub(in crate::remote) async fn login(self: &Arc<Self>, challenge: &str, seen: u64) -> Result<(), AuthError> {
        let (access, challenge) = (self.clone(), challenge.to_owned());
        // A task of its own: nobody is interrupted at the password because a call was given up.
        let login = tokio::spawn(async move {
            tokio::select! {
                () = access.unwanted.cancelled() => Err(AuthError::InternalError("the server is gone".to_owned())),
                met = access.login_once(challenge, seen) => met,
            }
        });
        login.await.map_err(|error| AuthError::InternalError(error.to_string()))?
    }

    async fn login_once(&self, challenge: String, seen: u64) -> Result<(), AuthError> {
        let mut login = self.login.lock().await;
        if self.logins() != seen {
            return Ok(());
        }
        match &self.oauth.grant {
            Grant::Client => self.present(&mut login, &challenge).await?,
            Grant::Person(person) => {
                if let Some((unmet, why)) = &login.unmet
                    && *unmet == challenge
                {
                    return Err(AuthError::AuthorizationFailed(why.clone()));
                }
                // Nobody was asked as long as there is no way back: this is tried again.
                let WayBack { redirect_uri, visit } = person.way_back().await?;
                let url = self.login_url(&mut login, &challenge, &redirect_uri).await?;
                let server = login.introduced_to.as_deref().unwrap_or_default();
                if let Err(error) = self.ask(visit, url, server).await {
                    login.unmet = Some((challenge, error.to_string()));
                    return Err(error);
                }
                login.unmet = None;
            }
        }
        self.logins.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Says that a challenge cannot be met: somebody has logged in, and it did not help.
    pub(in crate::remote) async fn give_up(&self, challenge: &str) {
        if matches!(self.oauth.grant, Grant::Person(_)) {
            let why = "the login did not help: the server asks for the same again".to_owned();
            self.login.lock().await.unmet = Some((challenge.to_owned(), why));
        }
    }

    /// Lets what was given up be tried again. While somebody logs in, nothing is.
    pub(in crate::remote) fn forgive(&self) {
        if let Ok(mut login) = self.login.try_lock() {
            login.unmet = None;
        }
    }

    /// The URL at which a person can meet the challenge.
    async fn login_url(&self, login: &mut Login, challenge: &str, redirect_uri: &str) -> Result<String, AuthError> {
        let params = WWWAuthenticateParams::parse(challenge, &Url::parse(&self.url)?);
        let mut manager = self.manager().await?.lock().await;
        if params.is_insufficient_scope()
            && login.introduced_to.is_some()
            && let Some(scope) = &params.scope
        {
            return manager.request_scope_upgrade(scope).await;
        }
        let (server, scopes) = self.discover(login, &mut manager, challenge).await?;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        if login.introduced_to.as_ref() != Some(&server.name) {
            login.introduced_to = None;
            let identity = &self.oauth.identity;
            identity.introduce(&mut manager, server.takes_metadata_urls, redirect_uri, &scopes).await?;
            login.introduced_to = Some(server.name);
        }
        manager.get_authorization_url(&scopes).await
    }

    /// Finds out from the challenge where a login is possible, and what for.
    async fn discover(
        &self,
        login: &Login,
        manager: &mut AuthorizationManager,
        challenge: &str,
    ) -> Result<(Authority, Vec<String>), AuthError> {
        let metadata = manager.resolve_metadata_from_challenge(Some(challenge)).await?.metadata;
        let identity = &self.oauth.identity;
        let server = Authority::new(&metadata, &self.url, identity)?;
        if let Some(known) = login.introduced_to.as_ref().filter(|known| **known != server.name) {
            if identity.id.is_some() {
                expected_one(known, Some(&server.name))?;
            }
            // Tokens of the one are no business of the other.
            self.store.clear().await?;
        }
        manager.set_metadata(metadata);
        let scopes = match &*self.oauth.scopes {
            [] => manager.select_initial_scopes(&[]).await,
            scopes => scopes.to_vec(),
        };
        Ok((server, scopes))
    }

    /// Lets a person log in there, and takes the token that comes of it.
    async fn ask(&self, visit: impl FnOnce(String) -> Visiting, url: String, server: &str) -> Result<(), AuthError> {
        let failed = AuthError::AuthorizationFailed;
        let login = Url::parse(&url)?;
        // Whoever opens it may open anything: a file, a program.
        if !matches!(login.scheme(), "https" | "http") {
            return Err(failed(format!("{url:?} is no page to log in at")));
        }
        let patience = self.oauth.patience;
        let asking = Asking::new(self);
        let redirected = timeout(patience, visit(url)).await;
        let redirected = redirected.map_err(|_| failed(format!("nobody logged in within {patience:?}")))?;
        let redirected = redirected.map_err(failed)?;
        drop(asking);
        let back = returned::code(&login, server, &redirected)?;
        let manager = self.manager().await?.lock().await;
        let traded = manager.exchange_code_for_token_with_issuer(&back.code, &back.csrf_token, back.issuer.as_deref());
        unlogged(traded).await.map(drop)
    }

    /// Logs in as the application itself.
    async fn present(&self, login: &mut Login, challenge: &str) -> Result<(), AuthError> {
        let mut manager = self.manager().await?.lock().await;
        let (server, scopes) = self.discover(login, &mut manager, challenge).await?;
        login.introduced_to = Some(server.name);
        let identity = &self.oauth.identity;
        let credentials = ClientCredentialsConfig::ClientSecret {
            client_id: identity.id.clone().unwrap_or_default(),
            client_secret: identity.secret.clone().unwrap_or_default(),
            scopes,
            resource: Some(self.url.clone()),
        };
        manager.validate_client_credentials_metadata(&credentials)?;
        manager.configure_client_credentials(&credentials)?;
        unlogged(manager.exchange_client_credentials(&credentials)).await.map(drop)
    }
}

/// rmcp writes the code and what comes for it, such as a token with the person's name, into the log.
fn unlogged<F: Future>(traded: F) -> impl Future<Output = F::Output> {
    traded.with_subscriber(NoSubscriber::default())
}

/// While this lives, somebody is being asked.
struct Asking<'a>(&'a Access);

impl<'a> Asking<'a> {
    fn new(access: &'a Access) -> Self {
        access.asking.store(true, Ordering::Release);
        Self(access)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.asked.store(true, Ordering::Release);
        self.0.asking.store(false, Ordering::Release);
    }
}
