//! How to get to a server, and what it does not let one do.

mod denied;

use std::env;
use std::fmt;
use std::future::IntoFuture;
use std::path::PathBuf;
use std::pin::{Pin, pin};

use async_nats::{Client, ConnectOptions, Event, ServerAddr};

pub(crate) use self::denied::{Denials, Denied, Following};
use crate::Error;

/// Where a server is if nobody says it.
const DEFAULT_URL: &str = "nats://127.0.0.1:4222";

/// Connects to a server, or to one of several whose addresses are separated by commas.
///
/// What is given back is awaited; it can first be told more, such as [`Connect::credentials_file`]. A client that was
/// made otherwise does as well: [`serve`](crate::serve()), [`discover`](crate::discover()) and
/// [`Queue::open`](crate::Queue::open) take both. Only of a connection that was made here is it heard at once what the
/// server does not let it do; with another client one waits for an answer in vain, and is told so after a while.
///
/// ```no_run
/// use tool_nats::{connect, serve};
/// use tool_runtime::Dispatcher;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let connection = connect("tls://nats.example.com").credentials_file("math.creds").authority("ca.pem").await?;
/// let worker = serve(connection, Dispatcher::builder().build()?).await?;
/// # Ok(())
/// # }
/// ```
pub fn connect(url: impl Into<String>) -> Connect {
    Connect { url: url.into(), user: None, password: None, credentials: None, authority: None, inbox_prefix: None }
}

/// What a connection is told before it is made; see [`connect`].
#[derive(Clone)]
#[must_use = "there is no connection until this is awaited"]
pub struct Connect {
    url: String,
    user: Option<String>,
    password: Option<String>,
    credentials: Option<PathBuf>,
    authority: Option<PathBuf>,
    inbox_prefix: Option<String>,
}

impl Connect {
    /// As the environment says it, in the variables of NATS's own command line: `NATS_URL`, `NATS_USER`, `NATS_PASSWORD`,
    /// `NATS_CREDS`, `NATS_CA` and `NATS_INBOX_PREFIX`. What is empty counts as not set.
    pub fn from_env() -> Self {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        let text = |name| set(name).map(|value| value.to_string_lossy().into_owned());
        Self {
            url: text("NATS_URL").unwrap_or_else(|| DEFAULT_URL.to_owned()),
            user: text("NATS_USER"),
            password: text("NATS_PASSWORD"),
            credentials: set("NATS_CREDS").map(PathBuf::from),
            authority: set("NATS_CA").map(PathBuf::from),
            inbox_prefix: text("NATS_INBOX_PREFIX"),
        }
    }

    /// To another server.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = url.into();
        self
    }

    /// As this user.
    pub fn user(mut self, name: impl Into<String>, password: impl Into<String>) -> Self {
        (self.user, self.password) = (Some(name.into()), Some(password.into()));
        self
    }

    /// As whom a credentials file says, such as `nsc` writes.
    pub fn credentials_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.credentials = Some(file.into());
        self
    }

    /// With TLS, to a server whose certificate comes from the authority in this file, or from one that the machine
    /// trusts.
    pub fn authority(mut self, file: impl Into<PathBuf>) -> Self {
        self.authority = Some(file.into());
        self
    }

    /// What the subjects for answers begin with, `_INBOX` unless set. With one of its own a user can be kept from reading
    /// the answers of others.
    pub fn inbox_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.inbox_prefix = Some(prefix.into());
        self
    }

    async fn start(self) -> Result<Connection, Error> {
        // Without what may stand before the host: a password.
        let (addresses, server) = match addresses(&self.url) {
            Ok(addresses) => {
                let shown =
                    |address: &ServerAddr| format!("{}://{}:{}", address.scheme(), address.host(), address.port());
                let server = addresses.iter().map(shown).collect::<Vec<_>>().join(", ");
                (addresses, server)
            }
            Err(source) => {
                return Err(Error::Connect { server: "the given address".to_owned(), source: source.into() });
            }
        };
        let denials = Denials::default();
        let connected = async {
            let heard = denials.clone();
            let options = self.options().await?.event_callback(move |event| {
                if let Event::ServerError(error) = &event {
                    heard.hear(error);
                }
                std::future::ready(())
            });
            Ok(options.connect(addresses).await?)
        };
        match connected.await {
            Ok(client) => Ok(Connection { client, denials, hears: true }),
            Err(source) => Err(Error::Connect { server, source }),
        }
    }

    async fn options(self) -> Result<ConnectOptions, async_nats::Error> {
        let mut options = ConnectOptions::new();
        match (self.user, self.password, self.credentials) {
            (None, None, None) => {}
            (Some(user), Some(password), None) => options = options.user_and_password(user, password),
            (None, None, Some(file)) => options = options.credentials_file(file).await?,
            (Some(_), None, _) => return Err("there is a user, and no password".into()),
            (None, Some(_), _) => return Err("there is a password, and no user".into()),
            (Some(_), Some(_), Some(_)) => {
                return Err("there is a user, and a credentials file: use one of them".into());
            }
        }
        if let Some(authority) = self.authority {
            options = options.require_tls(true).add_root_certificates(authority);
        }
        if let Some(prefix) = self.inbox_prefix {
            options = options.custom_inbox_prefix(prefix);
        }
        Ok(options)
    }
}

fn addresses(urls: &str) -> std::io::Result<Vec<ServerAddr>> {
    urls.split(',').map(|url| url.trim().parse()).collect()
}

impl IntoFuture for Connect {
    type Output = Result<Connection, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.start())
    }
}

/// A connection to NATS. Cheap to clone.
#[derive(Clone)]
pub struct Connection {
    client: Client,
    denials: Denials,
    hears: bool,
}

impl Connection {
    /// The client, for whatever else one does with NATS.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn denials(&self) -> &Denials {
        &self.denials
    }

    /// Whether it is heard what the server does not allow.
    pub(crate) fn hears(&self) -> bool {
        self.hears
    }

    /// Does something for which a subject is needed that has these tokens in it, and hears at once if the server does not let
    /// this user: otherwise nobody would say so, and it would take all its time.
    pub(crate) async fn allowed<T, E: Into<async_nats::Error>>(
        &self,
        doing: &'static str,
        tokens: &str,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Error> {
        let mut denials = self.denials.follow();
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done.map_err(Error::nats(doing)),
                denied = denials.next() => if denied.has(tokens) {
                    return Err(Error::Forbidden { doing, denied: denied.to_string() });
                },
            }
        }
    }
}

impl From<Client> for Connection {
    /// A client that was made elsewhere: what the server does not let it do is not heard.
    fn from(client: Client) -> Self {
        Self { client, denials: Denials::default(), hears: false }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl fmt::Debug for Connect {
    /// Without the password, and without the address, which may have one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user, credentials, authority, inbox_prefix, .. } = self;
        f.debug_struct("Connect")
            .field("user", user)
            .field("credentials", credentials)
            .field("authority", authority)
            .field("inbox_prefix", inbox_prefix)
            .finish_non_exhaustive()
    }
}
