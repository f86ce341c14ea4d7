//! Logins by users: a URL to open, and a redirect back.

use std::pin::Pin;
use std::sync::Arc;

use rmcp::transport::auth::AuthError;
use url::Url;

use super::browser::Browser;

/// The prefix of errors when the redirect port is in use; the login is retried then.
pub(super) const NO_CALLBACK: &str = "cannot receive the login redirect";

pub(super) type RedirectFuture = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;

/// The way in which a user logs in.
#[derive(Clone)]
pub(super) enum Login {
    /// With a browser on this machine.
    Local(Arc<Browser>),
    /// Anywhere, by a function of the application.
    Remote { redirect_uri: String, visit: Arc<dyn Fn(String) -> RedirectFuture + Send + Sync> },
}

/// A prepared login, which can already receive its redirect.
pub(super) struct PreparedLogin {
    pub(super) redirect_uri: String,
    /// Sends the user to a URL, and returns the URL that they are redirected to.
    pub(super) visit: Box<dyn FnOnce(String) -> RedirectFuture + Send>,
}

impl Login {
    pub(super) async fn prepare(&self) -> Result<PreparedLogin, AuthError> {
        match self {
            Self::Local(browser) => {
                let listener = browser
                    .open()
                    .await
                    .map_err(|why| AuthError::AuthorizationFailed(format!("{NO_CALLBACK}: {why}")))?;
                let redirect_uri = listener.redirect_uri.clone();
                Ok(PreparedLogin { redirect_uri, visit: Box::new(move |url| Box::pin(listener.visit(url))) })
            }
            Self::Remote { redirect_uri, visit } => {
                check_redirect_uri(redirect_uri).map_err(AuthError::AuthorizationFailed)?;
                let visit = visit.clone();
                Ok(PreparedLogin { redirect_uri: redirect_uri.clone(), visit: Box::new(move |url| visit(url)) })
            }
        }
    }

    /// Returns `true` if the redirect URIs are the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Local(this), Self::Local(other)) => this.port == other.port,
            (Self::Remote { redirect_uri: this, .. }, Self::Remote { redirect_uri: other, .. }) => this == other,
            _ => false,
        }
    }
}

/// Rejects unencrypted redirects to other machines: the authorization code is temporarily as sensitive as a password.
fn check_redirect_uri(redirect_uri: &str) -> Result<(), String> {
    let uri = Url::parse(redirect_uri).map_err(|error| format!("{redirect_uri:?} is not a URL: {error}"))?;
    let is_loopback = uri.host_str().is_some_and(tool_net::is_loopback_host);
    if uri.scheme() == "http" && !is_loopback {
        return Err(format!("the redirect URI {redirect_uri} must use HTTPS, because it is not a loopback address"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_unencrypted_redirects_to_other_machines() {
        for uri in [
            "https://notes.example/callback",
            "http://127.0.0.1:8976/callback",
            "http://[::1]/callback",
            "http://localhost:3000/callback",
            "com.example.notes:/callback",
        ] {
            assert_eq!(check_redirect_uri(uri), Ok(()));
        }
        for uri in ["http://notes.example/callback", "http://10.0.0.1/", "http://localhost.example/", "callback"] {
            assert!(check_redirect_uri(uri).is_err(), "{uri}");
        }
    }
}
