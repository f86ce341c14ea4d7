//! OAuth: how a server behind a URL is told who we are.

mod access;
mod identity;
mod store;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::auth::CredentialStore;

pub(crate) use access::Access;
pub(super) use identity::Identity;

type Visiting = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;
type Visit = Arc<dyn Fn(String) -> Visiting + Send + Sync>;

/// How tokens for a server are got, with OAuth 2.1 as MCP has it.
///
/// ```no_run
/// use tool_mcp::{OAuth, ServerConfig};
///
/// # async fn open_and_wait(url: &str) -> Result<String, std::io::Error> { Ok(String::new()) }
/// // Somebody logs in: the function opens the URL for them, and gives back the one that they were sent on to.
/// let person = OAuth::new("http://127.0.0.1:8976/callback", |url| async move { open_and_wait(&url).await });
/// let wiki = ServerConfig::http("wiki", "https://wiki.example/mcp").oauth(person.client_name("Notes"));
///
/// // Nobody has to: the application is a client of its own.
/// let service = OAuth::client_credentials("notes", std::env::var("NOTES_SECRET").unwrap_or_default());
/// let jobs = ServerConfig::http("jobs", "https://jobs.example/mcp").oauth(service);
/// ```
///
/// Nothing is asked for until the server does: its refusal says where to log in and what for. Tokens are refreshed, and
/// more scopes are asked for when a tool needs them; the call waits meanwhile and is then made again. Where a login
/// fails, or does not help, the same is not tried again until [`Servers::reload`](crate::Servers::reload).
#[derive(Clone)]
#[must_use = "it is used by `ServerConfig::oauth(..)`"]
pub struct OAuth {
    grant: Grant,
    identity: Identity,
    scopes: Vec<String>,
    store: Arc<dyn CredentialStore>,
    private_addresses: bool,
    patience: Duration,
}

/// Who says that we may.
#[derive(Clone)]
enum Grant {
    /// A person, who is sent to a URL and comes back to another.
    Person { redirect_uri: String, visit: Visit },
    /// Nobody but the client itself.
    Client,
}

impl OAuth {
    fn with(grant: Grant, identity: Identity) -> Self {
        Self {
            grant,
            identity,
            scopes: Vec::new(),
            store: Arc::new(store::InMemory::default()),
            private_addresses: false,
            patience: Duration::from_secs(300),
        }
    }

    /// A person logs in (an authorization code, with PKCE).
    ///
    /// The function is given the URL to open. It waits until the browser is sent to the redirect URI, and gives back
    /// that URL whole, with its query; or in words why that did not happen.
    pub fn new<F, Fut, E>(redirect_uri: impl Into<String>, visit: F) -> Self
    where
        F: Fn(String) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<String, E>> + Send + 'static,
        E: fmt::Display,
    {
        let visit = move |url: String| -> Visiting {
            let visiting = visit(url);
            Box::pin(async move { visiting.await.map_err(|error| error.to_string()) })
        };
        Self::with(Grant::Person { redirect_uri: redirect_uri.into(), visit: Arc::new(visit) }, Identity::default())
    }

    /// The application logs in as itself (client credentials), with an id and a secret that it was given before.
    pub fn client_credentials(id: impl Into<String>, secret: impl Into<String>) -> Self {
        let identity = Identity { id: Some(id.into()), secret: Some(secret.into()), ..Identity::default() };
        Self::with(Grant::Client, identity)
    }

    /// The id under which the application was registered before. Without one it registers itself where it may.
    pub fn client_id(mut self, id: impl Into<String>) -> Self {
        self.identity.id = Some(id.into());
        self
    }

    /// The secret that belongs to the [id](Self::client_id).
    pub fn client_secret(mut self, secret: impl Into<String>) -> Self {
        self.identity.secret = Some(secret.into());
        self
    }

    /// Where the application's metadata is published, over HTTPS: its id with servers that take such.
    pub fn client_metadata_url(mut self, url: impl Into<String>) -> Self {
        self.identity.metadata_url = Some(url.into());
        self
    }

    /// The name that people are shown when the application registers itself.
    pub fn client_name(mut self, name: impl Into<String>) -> Self {
        self.identity.name = Some(name.into());
        self
    }

    /// What is asked for at first, in place of what the server suggests.
    pub fn scopes<T: Into<String>>(mut self, scopes: impl IntoIterator<Item = T>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Where tokens are kept, such as the system's keyring; in memory unless told. What is stored there is as good as a
    /// password. One store is for one server.
    pub fn store(mut self, store: impl CredentialStore + 'static) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Lets the server name an authorization server at a private address, as within a company. Otherwise only a server
    /// that is at such an address itself may.
    pub fn allow_private_addresses(mut self) -> Self {
        self.private_addresses = true;
        self
    }

    /// How long a person has to log in; five minutes unless told. This is not counted as time to connect.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

/// Without the secret and the tokens.
impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut oauth = f.debug_struct("OAuth");
        if let Grant::Person { redirect_uri, .. } = &self.grant {
            oauth.field("redirect_uri", redirect_uri);
        }
        oauth.field("client_id", &self.identity.id).field("scopes", &self.scopes).finish_non_exhaustive()
    }
}
