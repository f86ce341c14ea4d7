//! The tokens for one server, shared by its connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rmcp::transport::auth::AuthError;
use tokio::sync::{Mutex, MutexGuard, OnceCell};
use tokio::time::timeout;
use tokio_util::sync::DropGuard;
use tool_runtime::CancellationToken;
use url::Url;

use super::callback::parse_callback;
use super::challenge::Challenge;
use super::login::{PreparedLogin, RedirectFuture};
use super::login_error::sanitize_error;
use super::oauth_client::OAuthClient;
use super::{Grant, OAuth};

/// Obtains tokens, refreshes them, and requests further scopes.
pub(crate) struct TokenAccess {
    url: String,
    oauth: OAuth,
    client: OnceCell<Mutex<OAuthClient>>,
    /// The last login that failed; the same challenge does not start another. The lock is held during a login, so that
    /// all waiting calls share it.
    failed_login: Mutex<Option<FailedLogin>>,
    logins: AtomicU64,
    is_pending: AtomicBool,
    was_pending: AtomicBool,
    /// Cancelled when no configuration uses this any more.
    unused: CancellationToken,
}

/// A login that failed or did not help.
struct FailedLogin {
    challenge: Challenge,
    why: String,
}

impl TokenAccess {
    pub(crate) fn new(url: String, oauth: OAuth) -> Self {
        Self {
            url,
            oauth,
            client: OnceCell::new(),
            failed_login: Mutex::default(),
            logins: AtomicU64::new(0),
            is_pending: AtomicBool::new(false),
            was_pending: AtomicBool::new(false),
            unused: CancellationToken::new(),
        }
    }

    /// Returns a guard that cancels pending logins when dropped.
    pub(crate) fn login_guard(&self) -> DropGuard {
        self.unused.clone().drop_guard()
    }

    pub(crate) fn oauth(&self) -> &OAuth {
        &self.oauth
    }

    /// Returns `true` if a login is pending, or was since the last call.
    pub(in crate::remote) fn was_login_pending(&self) -> bool {
        self.was_pending.swap(false, Ordering::AcqRel) || self.is_pending.load(Ordering::Acquire)
    }

    /// Returns the number of completed logins.
    pub(in crate::remote) fn logins(&self) -> u64 {
        self.logins.load(Ordering::Acquire)
    }

    async fn client(&self) -> Result<MutexGuard<'_, OAuthClient>, AuthError> {
        let client =
            self.client.get_or_try_init(|| async { OAuthClient::new(&self.url, &self.oauth).await.map(Mutex::new) });
        Ok(client.await.map_err(|error| sanitize_error(error, &self.url))?.lock().await)
    }

    /// Returns the current token, if there is one.
    pub(in crate::remote) async fn token(&self) -> Result<Option<String>, AuthError> {
        match self.client().await?.token().await {
            Ok(token) => Ok(Some(token)),
            Err(AuthError::AuthorizationRequired) => Ok(None),
            Err(error) => Err(sanitize_error(error, &self.url)),
        }
    }

    /// Replaces a rejected token. Returns `false` if that needs a login.
    pub(in crate::remote) async fn refresh(&self, rejected: &str) -> Result<bool, AuthError> {
        match self.client().await?.renew(rejected).await {
            Ok(()) => Ok(true),
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => Ok(false),
            Err(error) => Err(sanitize_error(error, &self.url)),
        }
    }

    /// Logs in to meet a challenge, unless there was a login since `seen` was read from [`logins`](Self::logins).
    pub(in crate::remote) async fn login(self: &Arc<Self>, challenge: &str, seen: u64) -> Result<(), AuthError> {
        let (access, challenge) = (self.clone(), challenge.to_owned());
        // In its own task, so that a cancelled call does not abort the login.
        let login = tokio::spawn(async move {
            tokio::select! {
                () = access.unused.cancelled() => Err(AuthError::InternalError("the server was removed".to_owned())),
                result = access.login_once(challenge, seen) => result,
            }
        });
        login
            .await
            .map_err(|error| AuthError::InternalError(error.to_string()))?
            .map_err(|error| sanitize_error(error, &self.url))
    }

    async fn login_once(&self, challenge: String, seen: u64) -> Result<(), AuthError> {
        let mut failed = self.failed_login.lock().await;
        if self.logins() != seen {
            return Ok(());
        }
        let challenge = Challenge::new(&challenge, &self.url)?;
        match &self.oauth.grant {
            Grant::Client => self.client().await?.exchange_credentials(&challenge).await?,
            Grant::User(login) => {
                if let Some(FailedLogin { why, .. }) =
                    failed.as_ref().filter(|failed| failed.challenge.is_same(&challenge))
                {
                    return Err(AuthError::AuthorizationFailed(why.clone()));
                }
                // A failure to prepare is not recorded, so that it is retried.
                let PreparedLogin { redirect_uri, visit } = {
                    // This waits for other logins in the same browser.
                    let _pending = PendingGuard::new(self);
                    login.prepare().await?
                };
                let (url, server) = self.client().await?.login_url(&challenge, &redirect_uri).await?;
                if let Err(error) = self.visit(visit, url, &server).await {
                    *failed = Some(FailedLogin { challenge, why: error.to_string() });
                    return Err(error);
                }
                *failed = None;
            }
        }
        self.logins.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Records that a login did not help, because the server repeats its challenge.
    pub(in crate::remote) async fn record_useless_login(&self, challenge: &str) {
        if let (Grant::User(_), Ok(challenge)) = (&self.oauth.grant, Challenge::new(challenge, &self.url)) {
            let why = "the login did not help: the server repeats its challenge".to_owned();
            *self.failed_login.lock().await = Some(FailedLogin { challenge, why });
        }
    }

    /// Allows a failed login to be repeated. Does nothing during a login.
    pub(in crate::remote) fn retry_failed_login(&self) {
        if let Ok(mut failed) = self.failed_login.try_lock() {
            *failed = None;
        }
    }

    /// Lets the user log in at a URL, and obtains the token.
    async fn visit(
        &self,
        visit: impl FnOnce(String) -> RedirectFuture,
        url: String,
        server: &str,
    ) -> Result<(), AuthError> {
        let failed = AuthError::AuthorizationFailed;
        let login = Url::parse(&url)?;
        // Other schemes could open a file or start a program.
        if !matches!(login.scheme(), "https" | "http") {
            return Err(failed(format!("the login URL {url:?} does not use HTTP")));
        }
        let limit = self.oauth.login_timeout;
        let pending = PendingGuard::new(self);
        let redirected = timeout(limit, visit(url)).await;
        let redirected = redirected.map_err(|_| failed(format!("no login within {limit:?}")))?;
        let redirected = redirected.map_err(failed)?;
        drop(pending);
        let callback = parse_callback(&login, server, &redirected)?;
        self.client().await?.exchange_code(&callback).await
    }
}

/// Marks a login as pending while it lives.
struct PendingGuard<'a>(&'a TokenAccess);

impl<'a> PendingGuard<'a> {
    fn new(access: &'a TokenAccess) -> Self {
        access.is_pending.store(true, Ordering::Release);
        Self(access)
    }
}

impl Drop for PendingGuard<'_> {
    fn drop(&mut self) {
        self.0.was_pending.store(true, Ordering::Release);
        self.0.is_pending.store(false, Ordering::Release);
    }
}
