//! OAuth: how a server behind a URL is told who we are.

mod access;
mod authority;
mod browser;
mod challenge;
mod client;
mod identity;
mod person;
mod published;
mod returned;
mod store;
mod told;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::auth::CredentialStore;

pub(crate) use access::Access;
use browser::Browser;
pub(super) use identity::Identity;
use person::{Person, Visiting};
use store::Store;
pub(super) use told::may_work_later;

/// How tokens for a server are got, with OAuth 2.1 as MCP has it.
///
/// ```no_run
/// use tool_mcp::{OAuth, ServerConfig};
///
/// # async fn open_and_wait(url: &str) -> Result<String, std::io::Error> { Ok(String::new()) }
/// // Somebody at this machine logs in, with a browser.
/// let person = OAuth::in_browser(|url| println!("To use the wiki, open {url}"));
/// let wiki = ServerConfig::http("wiki", "https://wiki.example/mcp").oauth(person.client_name("Notes"));
///
/// // Somebody elsewhere: the function opens the URL for them, and gives back the one that they were sent on to.
/// let person = OAuth::new("https://notes.example/callback", |url| async move { open_and_wait(&url).await });
/// let mail = ServerConfig::http("mail", "https://mail.example/mcp").oauth(person);
///
/// // Nobody has to: the application is a client of its own.
/// let service = OAuth::client_credentials("notes", std::env::var("NOTES_SECRET").unwrap_or_default());
/// let jobs = ServerConfig::http("jobs", "https://jobs.example/mcp").oauth(service);
/// ```
///
/// Nothing is asked for until the server does: its refusal says where to log in and what for. Tokens are refreshed, and
/// more scopes are asked for when a tool needs them; the call waits meanwhile and is then made again. Where a login
/// fails, or does not help, the same is not tried again until [`Servers::reload`](crate::Servers::reload).
///
/// Make it once and clone it: the clones have the same tokens, for each server its own. A function for
/// [`configure`](crate::ServersBuilder::configure) runs at every reload; one that makes a new `OAuth` there has somebody
/// log in each time.
///
/// ```no_run
/// use tool_mcp::{OAuth, Servers};
///
/// # fn main() -> Result<(), tool_mcp::ConfigError> {
/// let person = OAuth::in_browser(|url| println!("To use the wiki, open {url}")).client_id("notes");
/// let servers = Servers::builder()
///     .config_file("mcp.json")?
///     .configure("wiki", move |wiki| wiki.oauth(person.clone()));
/// # Ok(())
/// # }
/// ```
///
/// Where that does not fit, [`shared_store`](Self::shared_store) says that the tokens are the same.
#[derive(Clone)]
#[must_use = "it is used by `ServerConfig::oauth(..)`"]
pub struct OAuth {
    grant: Grant,
    identity: Identity,
    scopes: Vec<String>,
    store: Store,
    private_addresses: bool,
    patience: Duration,
    /// It is what a file says, and the same as long as that says the same.
    of_file: bool,
}

/// Who says that we may.
#[derive(Clone)]
enum Grant {
    /// A person.
    Person(Person),
    /// Nobody but the client itself.
    Client,
}

impl OAuth {
    fn with(grant: Grant, identity: Identity) -> Self {
        Self {
            grant,
            identity,
            scopes: Vec::new(),
            store: Store::default(),
            private_addresses: false,
            patience: Duration::from_secs(300),
            of_file: false,
        }
    }

    /// A person at this machine logs in with a browser (an authorization code, with PKCE).
    ///
    /// The function is given the URL to open: print it, or start the browser. Until the browser comes back, a port of
    /// this machine is listened to, for this machine only; whoever comes without the `state` of this login is turned
    /// away.
    pub fn in_browser(show: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self::in_browser_at(0, show)
    }

    /// As [`in_browser`](Self::in_browser), at a fixed port: for a [client](Self::client_id) that was registered with
    /// the redirect URI `http://127.0.0.1:{port}/callback`. The port is taken while somebody logs in, and free in
    /// between; where another has it, the server's status says so, and it is tried again.
    pub fn in_browser_at(port: u16, show: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self::with(Grant::Person(Person::Here(Arc::new(Browser::new(port, show)))), Identity::default())
    }

    /// A person logs in, wherever they are (an authorization code, with PKCE).
    ///
    /// The function is given the URL to open. It waits until the browser is sent to the redirect URI, and gives back
    /// that URL whole, with its query; or in words why that did not happen. The URI has HTTPS, is one of this machine
    /// (`http://127.0.0.1`), or has a scheme of the application's own.
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
        let person = Person::Elsewhere { redirect_uri: redirect_uri.into(), visit: Arc::new(visit) };
        Self::with(Grant::Person(person), Identity::default())
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

    /// The authorization server that has the application registered, by its issuer. It is a server that names the one to
    /// log in with: said here, the [id](Self::client_id) and the secret are told to no other. Without this they are told
    /// to the first that is named, and to no other after it, as long as this is kept or tokens of it are
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
    pub fn store(self, store: impl CredentialStore + 'static) -> Self {
        self.shared_store(Arc::new(store))
    }

    /// As [`store`](Self::store), with one that the application holds on to. What says the same and has the same store
    /// is the same when servers are [reloaded](crate::Servers::reload), however often it is made: nobody has to log in
    /// again, and the server stays connected.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use tool_mcp::rmcp::transport::auth::InMemoryCredentialStore;
    /// use tool_mcp::{OAuth, Servers};
    ///
    /// let tokens = Arc::new(InMemoryCredentialStore::new());
    /// let servers = Servers::builder().configure("wiki", move |wiki| {
    ///     wiki.oauth(OAuth::in_browser(|url| println!("To use the wiki, open {url}")).shared_store(tokens.clone()))
    /// });
    /// ```
    pub fn shared_store(mut self, store: Arc<dyn CredentialStore>) -> Self {
        self.store = Store::Given(store);
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

    /// As a file says it.
    pub(super) fn of_file(mut self) -> Self {
        self.of_file = true;
        self
    }

    /// The same, with another function that shows people where they log in; nothing where the application has said how.
    pub(super) fn shown_by(&self, show: impl Fn(&str) + Send + Sync + 'static) -> Option<Self> {
        match &self.grant {
            Grant::Person(Person::Here(browser)) if self.of_file => {
                let browser = Arc::new(Browser::new(browser.port, show));
                Some(Self { grant: Grant::Person(Person::Here(browser)), ..self.clone() })
            }
            _ => None,
        }
    }

    /// Whether it says the same, and has the same tokens. The functions that people are asked with are not looked at:
    /// no two of them can be told to be the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same_grant = match (&self.grant, &other.grant) {
            (Grant::Person(this), Grant::Person(other)) => this.is_same(other),
            (Grant::Client, Grant::Client) => true,
            _ => false,
        };
        let same_store = self.store.is_same(&other.store) || (self.of_file && other.of_file);
        same_store
            && same_grant
            && self.identity == other.identity
            && self.scopes == other.scopes
            && self.private_addresses == other.private_addresses
            && self.patience == other.patience
    }
}

/// Without the secret and the tokens.
impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut oauth = f.debug_struct("OAuth");
        if let Grant::Person(Person::Elsewhere { redirect_uri, .. }) = &self.grant {
            oauth.field("redirect_uri", redirect_uri);
        }
        oauth.field("client_id", &self.identity.id).field("scopes", &self.scopes).finish_non_exhaustive()
    }
}
