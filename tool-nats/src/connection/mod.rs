//! Connections to NATS.

mod violations;

use std::env;
use std::fmt;
use std::future::IntoFuture;
use std::path::PathBuf;
use std::pin::{Pin, pin};

use async_nats::{Client, ConnectOptions, Event, ServerAddr};

pub(crate) use self::violations::{PermissionViolation, ViolationChannel, ViolationSubscription};
use crate::NatsError;

/// The default server.
const DEFAULT_URL: &str = "nats://127.0.0.1:4222";

/// Connects to a server, or to one of several comma-separated addresses.
///
/// Configure and await the returned builder. [`serve`](crate::serve()), [`discover`](crate::discover()) and
/// [`WorkQueue::open`](crate::WorkQueue::open) accept a plain `async_nats::Client` as well. With a connection made
/// here, permission violations are reported at once; with any other client, denied requests time out.
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
pub fn connect(url: impl Into<String>) -> ConnectionBuilder {
    ConnectionBuilder {
        url: url.into(),
        user: None,
        password: None,
        credentials: None,
        authority: None,
        inbox_prefix: None,
    }
}

/// A builder for a connection; see [`connect`].
#[derive(Clone)]
#[must_use = "does not connect until awaited"]
pub struct ConnectionBuilder {
    url: String,
    user: Option<String>,
    password: Option<String>,
    credentials: Option<PathBuf>,
    authority: Option<PathBuf>,
    inbox_prefix: Option<String>,
}

impl ConnectionBuilder {
    /// Reads the variables of NATS's own command line: `NATS_URL`, `NATS_USER`, `NATS_PASSWORD`, `NATS_CREDS`,
    /// `NATS_CA` and `NATS_INBOX_PREFIX`. Empty variables count as unset.
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

    /// Sets the server.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = url.into();
        self
    }

    /// Sets the user and password.
    pub fn user(mut self, name: impl Into<String>, password: impl Into<String>) -> Self {
        (self.user, self.password) = (Some(name.into()), Some(password.into()));
        self
    }

    /// Sets a credentials file, such as those written by `nsc`.
    pub fn credentials_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.credentials = Some(file.into());
        self
    }

    /// Requires TLS, and trusts the certificate authority in this file in addition to those of the system.
    pub fn authority(mut self, file: impl Into<PathBuf>) -> Self {
        self.authority = Some(file.into());
        self
    }

    /// Sets the prefix of reply subjects. Defaults to `_INBOX`. With a prefix per user, permissions can prevent users
    /// from reading the replies of others.
    pub fn inbox_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.inbox_prefix = Some(prefix.into());
        self
    }

    async fn start(self) -> Result<NatsConnection, NatsError> {
        // Errors show the address without user information, which may contain a password.
        let (addresses, server) = match addresses(&self.url) {
            Ok(addresses) => {
                let shown =
                    |address: &ServerAddr| format!("{}://{}:{}", address.scheme(), address.host(), address.port());
                let server = addresses.iter().map(shown).collect::<Vec<_>>().join(", ");
                (addresses, server)
            }
            Err(source) => {
                return Err(NatsError::Connect { server: "the given address".to_owned(), source: source.into() });
            }
        };
        let violations = ViolationChannel::default();
        let connected = async {
            let channel = violations.clone();
            let options = self.options().await?.event_callback(move |event| {
                if let Event::ServerError(error) = &event {
                    channel.report(error);
                }
                std::future::ready(())
            });
            Ok(options.connect(addresses).await?)
        };
        match connected.await {
            Ok(client) => Ok(NatsConnection { client, violations, reports_violations: true }),
            Err(source) => Err(NatsError::Connect { server, source }),
        }
    }

    async fn options(self) -> Result<ConnectOptions, async_nats::Error> {
        let mut options = ConnectOptions::new();
        match (self.user, self.password, self.credentials) {
            (None, None, None) => {}
            (Some(user), Some(password), None) => options = options.user_and_password(user, password),
            (None, None, Some(file)) => options = options.credentials_file(file).await?,
            (Some(_), None, _) => return Err("a user is set without a password".into()),
            (None, Some(_), _) => return Err("a password is set without a user".into()),
            (Some(_), Some(_), Some(_)) => {
                return Err("both a user and a credentials file are set: use one of them".into());
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

impl IntoFuture for ConnectionBuilder {
    type Output = Result<NatsConnection, NatsError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.start())
    }
}

/// A connection to NATS. Cheap to clone.
#[derive(Clone)]
pub struct NatsConnection {
    client: Client,
    violations: ViolationChannel,
    reports_violations: bool,
}

impl NatsConnection {
    /// Returns the client, for other uses of NATS.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn violations(&self) -> &ViolationChannel {
        &self.violations
    }

    /// Returns `true` if permission violations are reported on this connection.
    pub(crate) fn reports_violations(&self) -> bool {
        self.reports_violations
    }

    /// Performs an operation that needs a subject containing these tokens, and fails at once on a permission violation.
    /// Otherwise the operation would wait for its timeout.
    pub(crate) async fn permitted<T, E: Into<async_nats::Error>>(
        &self,
        doing: &'static str,
        tokens: &str,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, NatsError> {
        let mut violations = self.violations.subscribe();
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done.map_err(NatsError::nats(doing)),
                denied = violations.next() => if denied.has_tokens(tokens) {
                    return Err(NatsError::Forbidden { doing, denied: denied.to_string() });
                },
            }
        }
    }
}

impl From<Client> for NatsConnection {
    /// Wraps a client that was created elsewhere, whose permission violations are not reported.
    fn from(client: Client) -> Self {
        Self { client, violations: ViolationChannel::default(), reports_violations: false }
    }
}

impl fmt::Debug for NatsConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsConnection").finish_non_exhaustive()
    }
}

impl fmt::Debug for ConnectionBuilder {
    /// Omits the password and the address, which may contain one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user, credentials, authority, inbox_prefix, .. } = self;
        f.debug_struct("ConnectionBuilder")
            .field("user", user)
            .field("credentials", credentials)
            .field("authority", authority)
            .field("inbox_prefix", inbox_prefix)
            .finish_non_exhaustive()
    }
}
