//! OAuth 2.1 for servers at a URL.

mod authorization_server;
mod browser;
mod callback;
mod challenge;
mod login;
mod login_error;
mod oauth_client;
mod token_access;
mod token_store;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::auth::CredentialStore;

use browser::Browser;
use login::{Login, RedirectFuture};
pub(super) use login_error::is_transient;
pub(super) use oauth_client::ClientIdentity;
pub(crate) use token_access::TokenAccess;
use token_store::TokenStore;

/// Obtains tokens for a server, with OAuth 2.1 as specified by MCP.
///
/// ```no_run
/// use tool_mcp::{OAuth, ServerConfig};
///
/// # async fn open_and_wait(url: &str) -> Result<String, std::io::Error> { Ok(String::new()) }
/// // A user on this machine logs in with a browser.
/// let login = OAuth::in_browser(|url| println!("To use the wiki, open {url}"));
/// let wiki = ServerConfig::http("wiki", "https://wiki.example/mcp").oauth(login.client_name("Notes"));
///
/// // A user elsewhere: the function opens the URL for them, and returns the URL that they were redirected to.
/// let login = OAuth::new("https://notes.example/callback", |url| async move { open_and_wait(&url).await });
/// let mail = ServerConfig::http("mail", "https://mail.example/mcp").oauth(login);
///
/// // No user: the application logs in with its own credentials.
/// let service = OAuth::client_credentials("notes", std::env::var("NOTES_SECRET").unwrap_or_default());
/// let jobs = ServerConfig::http("jobs", "https://jobs.example/mcp").oauth(service);
/// ```
///
/// A login starts only when the server requires it; its challenge names the authorization server and the scopes. Tokens
/// are refreshed, and more scopes are requested when a tool needs them; the call waits meanwhile and is then repeated. A
/// login that failed, or did not help, is not repeated until
/// [`RemoteServers::reload`](crate::RemoteServers::reload).
///
/// Create it once and clone it: clones share the tokens of each server. A function passed to
/// [`configure`](crate::RemoteServersBuilder::configure) runs at every reload; if it created a new `OAuth`, users would
/// have to log in each time.
///
/// ```no_run
/// use tool_mcp::{OAuth, RemoteServers};
///
/// # fn main() -> Result<(), tool_mcp::ConfigFileError> {
/// let login = OAuth::in_browser(|url| println!("To use the wiki, open {url}")).client_id("notes");
/// let servers = RemoteServers::builder()
///     .config_file("mcp.json")?
///     .configure("wiki", move |wiki| wiki.oauth(login.clone()));
/// # Ok(())
/// # }
/// ```
///
/// Alternatively, [`shared_store`](Self::shared_store) makes separately created values share tokens.
#[derive(Clone)]
#[must_use = "pass it to `ServerConfig::oauth(..)`"]
pub struct OAuth {
    grant: Grant,
    identity: ClientIdentity,
    scopes: Vec<String>,
    store: TokenStore,
    private_addresses: bool,
    login_timeout: Duration,
    /// Configured in a file; equal settings are then equal values.
    is_from_file: bool,
}

/// The kind of OAuth grant.
#[derive(Clone)]
enum Grant {
    /// An authorization code, by a user's login.
    User(Login),
    /// Client credentials.
    Client,
}

impl OAuth {
    fn with(grant: Grant, identity: ClientIdentity) -> Self {
        Self {
            grant,
            identity,
            scopes: Vec::new(),
            store: TokenStore::default(),
            private_addresses: false,
            login_timeout: Duration::from_secs(300),
            is_from_file: false,
        }
    }

    /// Lets a user on this machine log in with a browser (authorization code with PKCE).
    ///
    /// The function receives the URL to open: print it, or start the browser. During the login a loopback port is open
    /// for the redirect; requests without the `state` of this login are rejected.
    pub fn in_browser(show: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self::in_browser_at(0, show)
    }

    /// Same as [`in_browser`](Self::in_browser), at a fixed port, for a [client](Self::client_id) that was registered with
    /// the redirect URI `http://127.0.0.1:{port}/callback`. The port is open only during a login. If it is in use, the
    /// server's status reports it and the login is retried.
    pub fn in_browser_at(port: u16, show: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self::with(Grant::User(Login::Local(Arc::new(Browser::new(port, show)))), ClientIdentity::default())
    }

    /// Lets a user log in anywhere (authorization code with PKCE).
    ///
    /// The function receives the URL to open. It waits until the browser is redirected to the redirect URI, and returns
    /// that full URL with its query, or an error. The redirect URI must use HTTPS, a loopback address
    /// (`http://127.0.0.1`), or a private scheme of the application.
    pub fn new<F, Fut, E>(redirect_uri: impl Into<String>, visit: F) -> Self
    where
        F: Fn(String) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<String, E>> + Send + 'static,
        E: fmt::Display,
    {
        let visit = move |url: String| -> RedirectFuture {
            let redirect = visit(url);
            Box::pin(async move { redirect.await.map_err(|error| error.to_string()) })
        };
        let login = Login::Remote { redirect_uri: redirect_uri.into(), visit: Arc::new(visit) };
        Self::with(Grant::User(login), ClientIdentity::default())
    }

    /// Lets the application log in itself (client credentials), with an id and a secret issued beforehand.
    pub fn client_credentials(id: impl Into<String>, secret: impl Into<String>) -> Self {
        let identity = ClientIdentity { id: Some(id.into()), secret: Some(secret.into()), ..ClientIdentity::default() };
        Self::with(Grant::Client, identity)
    }

    /// Sets the client id of a registered application. By default the application registers itself, if possible.
    pub fn client_id(mut self, id: impl Into<String>) -> Self {
        self.identity.id = Some(id.into());
        self
    }

    /// Sets the secret of the [client id](Self::client_id).
    pub fn client_secret(mut self, secret: impl Into<String>) -> Self {
        self.identity.secret = Some(secret.into());
        self
    }

    /// Sets the issuer of the authorization server where the application is registered. The MCP server names the
    /// authorization server; with this set, the [client id](Self::client_id) and the secret are sent to this one only.
    /// By default they are sent to the first one named, and to no other as long as this value lives or its tokens are
    /// [stored](Self::store).
    ///
    /// ```
    /// # use tool_mcp::OAuth;
    /// # let secret = String::new();
    /// let service = OAuth::client_credentials("notes", secret).issuer("https://login.example");
    /// ```
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.identity.issuer = Some(issuer.into());
        self
    }

    /// Sets the HTTPS URL of the application's client metadata, which serves as its id where that is supported.
    pub fn client_metadata_url(mut self, url: impl Into<String>) -> Self {
        self.identity.metadata_url = Some(url.into());
        self
    }

    /// Sets the name that users see when the application registers itself.
    pub fn client_name(mut self, name: impl Into<String>) -> Self {
        self.identity.name = Some(name.into());
        self
    }

    /// Sets the initial scopes. Defaults to those that the server suggests.
    pub fn scopes<T: Into<String>>(mut self, scopes: impl IntoIterator<Item = T>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the token store, such as the system's keyring. Defaults to memory. Stored tokens are as sensitive as
    /// passwords. Use one store per server.
    pub fn store(self, store: impl CredentialStore + 'static) -> Self {
        self.shared_store(Arc::new(store))
    }

    /// Same as [`store`](Self::store), with a store that the application also holds. Values with equal settings and the
    /// same store count as equal when servers are [reloaded](crate::RemoteServers::reload): users need not log in again, and
    /// the server stays connected.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use tool_mcp::rmcp::transport::auth::InMemoryCredentialStore;
    /// use tool_mcp::{OAuth, RemoteServers};
    ///
    /// let tokens = Arc::new(InMemoryCredentialStore::new());
    /// let servers = RemoteServers::builder().configure("wiki", move |wiki| {
    ///     wiki.oauth(OAuth::in_browser(|url| println!("To use the wiki, open {url}")).shared_store(tokens.clone()))
    /// });
    /// ```
    pub fn shared_store(mut self, store: Arc<dyn CredentialStore>) -> Self {
        self.store = TokenStore::Custom(store);
        self
    }

    /// Allows an authorization server at a private address, as within a company. By default only a server that is itself
    /// at a private address may name one.
    pub fn allow_private_addresses(mut self) -> Self {
        self.private_addresses = true;
        self
    }

    /// Sets the time that a user has to log in. Defaults to five minutes. It does not count as time to connect.
    pub fn login_timeout(mut self, timeout: Duration) -> Self {
        self.login_timeout = timeout;
        self
    }

    /// Marks the settings as configured in a file.
    pub(super) fn mark_from_file(mut self) -> Self {
        self.is_from_file = true;
        self
    }

    /// Replaces the function that shows login URLs, if the login was configured in a file.
    pub(super) fn with_file_prompt(&self, show: impl Fn(&str) + Send + Sync + 'static) -> Option<Self> {
        match &self.grant {
            Grant::User(Login::Local(browser)) if self.is_from_file => {
                let browser = Arc::new(Browser::new(browser.port, show));
                Some(Self { grant: Grant::User(Login::Local(browser)), ..self.clone() })
            }
            _ => None,
        }
    }

    /// Returns `true` if the settings and the token store are the same. The application's functions cannot be compared
    /// and are ignored.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same_grant = match (&self.grant, &other.grant) {
            (Grant::User(this), Grant::User(other)) => this.is_same(other),
            (Grant::Client, Grant::Client) => true,
            _ => false,
        };
        let same_store = self.store.is_same(&other.store) || (self.is_from_file && other.is_from_file);
        same_store
            && same_grant
            && self.identity == other.identity
            && self.scopes == other.scopes
            && self.private_addresses == other.private_addresses
            && self.login_timeout == other.login_timeout
    }
}

/// Omits the secret and the tokens.
impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut oauth = f.debug_struct("OAuth");
        if let Grant::User(Login::Remote { redirect_uri, .. }) = &self.grant {
            oauth.field("redirect_uri", redirect_uri);
        }
        oauth.field("client_id", &self.identity.id).field("scopes", &self.scopes).finish_non_exhaustive()
    }
}
