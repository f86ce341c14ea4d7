//! The tokens for one server, from one connection to the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rmcp::transport::auth::AuthError;
use tokio::sync::{Mutex, MutexGuard, OnceCell};
use tokio::time::timeout;
use tokio_util::sync::DropGuard;
use tool_runtime::CancellationToken;
use url::Url;

use super::challenge::Challenge;
use super::client::Client;
use super::person::{Visiting, WayBack};
use super::told::told;
use super::{Grant, OAuth, returned};

/// Gets tokens, refreshes them, and asks for more.
pub(crate) struct Access {
    url: String,
    oauth: OAuth,
    client: OnceCell<Mutex<Client>>,
    /// What was not met: nobody is asked twice for the same. Held while somebody logs in: one login is enough for all
    /// calls that wait for it.
    unmet: Mutex<Option<Unmet>>,
    logins: AtomicU64,
    asking: AtomicBool,
    asked: AtomicBool,
    /// No server is configured with this any more.
    unwanted: CancellationToken,
}

/// A challenge that was not met.
struct Unmet {
    challenge: Challenge,
    why: String,
}

impl Access {
    pub(crate) fn new(url: String, oauth: OAuth) -> Self {
        Self {
            url,
            oauth,
            client: OnceCell::new(),
            unmet: Mutex::default(),
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

    async fn client(&self) -> Result<MutexGuard<'_, Client>, AuthError> {
        let client =
            self.client.get_or_try_init(|| async { Client::new(&self.url, &self.oauth).await.map(Mutex::new) });
        Ok(client.await.map_err(|error| told(error, &self.url))?.lock().await)
    }

    /// The token to send, if there is one by now.
    pub(in crate::remote) async fn token(&self) -> Result<Option<String>, AuthError> {
        match self.client().await?.token().await {
            Ok(token) => Ok(Some(token)),
            Err(AuthError::AuthorizationRequired) => Ok(None),
            Err(error) => Err(told(error, &self.url)),
        }
    }

    /// Whether there is another token now than the one that was refused.
    pub(in crate::remote) async fn refresh(&self, refused: &str) -> Result<bool, AuthError> {
        match self.client().await?.renew(refused).await {
            Ok(()) => Ok(true),
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => Ok(false),
            Err(error) => Err(told(error, &self.url)),
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
        login
            .await
            .map_err(|error| AuthError::InternalError(error.to_string()))?
            .map_err(|error| told(error, &self.url))
    }

    async fn login_once(&self, challenge: String, seen: u64) -> Result<(), AuthError> {
        let mut unmet = self.unmet.lock().await;
        if self.logins() != seen {
            return Ok(());
        }
        let challenge = Challenge::new(&challenge, &self.url)?;
        match &self.oauth.grant {
            Grant::Client => self.client().await?.present(&challenge).await?,
            Grant::Person(person) => {
                if let Some(Unmet { why, .. }) = unmet.as_ref().filter(|unmet| unmet.challenge.is_same(&challenge)) {
                    return Err(AuthError::AuthorizationFailed(why.clone()));
                }
                // Nobody was asked as long as there is no way back: this is tried again.
                let WayBack { redirect_uri, visit } = {
                    // Somebody may be busy with another login.
                    let _asking = Asking::new(self);
                    person.way_back().await?
                };
                let (url, server) = self.client().await?.login_url(&challenge, &redirect_uri).await?;
                if let Err(error) = self.ask(visit, url, &server).await {
                    *unmet = Some(Unmet { challenge, why: error.to_string() });
                    return Err(error);
                }
                *unmet = None;
            }
        }
        self.logins.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Says that a challenge cannot be met: somebody has logged in, and it did not help.
    pub(in crate::remote) async fn give_up(&self, challenge: &str) {
        if let (Grant::Person(_), Ok(challenge)) = (&self.oauth.grant, Challenge::new(challenge, &self.url)) {
            let why = "the login did not help: the server asks for the same again".to_owned();
            *self.unmet.lock().await = Some(Unmet { challenge, why });
        }
    }

    /// Lets what was given up be tried again. While somebody logs in, nothing is.
    pub(in crate::remote) fn forgive(&self) {
        if let Ok(mut unmet) = self.unmet.try_lock() {
            *unmet = None;
        }
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
        self.client().await?.trade(&back).await
    }
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
