//! A person who logs in: they are sent to a URL, and come back to another.

use std::pin::Pin;
use std::sync::Arc;

use rmcp::transport::auth::AuthError;
use url::Url;

use super::browser::Browser;

/// How an error begins where the way back is taken for now.
pub(super) const NO_WAY_BACK: &str = "nobody could come back from a login";

pub(super) type Visiting = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;

/// Who logs in, and where they come back to.
#[derive(Clone)]
pub(super) enum Person {
    /// Somebody at this machine, with a browser.
    Here(Arc<Browser>),
    /// Somebody elsewhere, whom the application knows.
    Elsewhere { redirect_uri: String, visit: Arc<dyn Fn(String) -> Visiting + Send + Sync> },
}

/// The way back from one login. It is open before anybody is asked.
pub(super) struct WayBack {
    pub(super) redirect_uri: String,
    /// Sends somebody to a URL; gives back the one that they come to in the end.
    pub(super) visit: Box<dyn FnOnce(String) -> Visiting + Send>,
}

impl Person {
    pub(super) async fn way_back(&self) -> Result<WayBack, AuthError> {
        match self {
            Self::Here(browser) => {
                let port = browser
                    .open()
                    .await
                    .map_err(|why| AuthError::AuthorizationFailed(format!("{NO_WAY_BACK}: {why}")))?;
                let redirect_uri = port.redirect_uri.clone();
                Ok(WayBack { redirect_uri, visit: Box::new(move |url| Box::pin(port.visit(url))) })
            }
            Self::Elsewhere { redirect_uri, visit } => {
                private(redirect_uri).map_err(AuthError::AuthorizationFailed)?;
                let visit = visit.clone();
                Ok(WayBack { redirect_uri: redirect_uri.clone(), visit: Box::new(move |url| visit(url)) })
            }
        }
    }

    /// Whether people come back to the same place.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Here(this), Self::Here(other)) => this.port == other.port,
            (Self::Elsewhere { redirect_uri: this, .. }, Self::Elsewhere { redirect_uri: other, .. }) => this == other,
            _ => false,
        }
    }
}

/// Whoever comes back brings a code that is as good as a password for a while: it does not travel in the clear.
fn private(redirect_uri: &str) -> Result<(), String> {
    let uri = Url::parse(redirect_uri).map_err(|error| format!("{redirect_uri:?} is no URL: {error}"))?;
    let stays_here = uri.host_str().is_some_and(tool_net::is_loopback_host);
    if uri.scheme() == "http" && !stays_here {
        return Err(format!("the redirect URI {redirect_uri} leaves this machine: it needs HTTPS"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_do_not_travel_in_the_clear() {
        for uri in [
            "https://notes.example/callback",
            "http://127.0.0.1:8976/callback",
            "http://[::1]/callback",
            "http://localhost:3000/callback",
            "com.example.notes:/callback",
        ] {
            assert_eq!(private(uri), Ok(()));
        }
        for uri in ["http://notes.example/callback", "http://10.0.0.1/", "http://localhost.example/", "callback"] {
            assert!(private(uri).is_err(), "{uri}");
        }
    }
}
