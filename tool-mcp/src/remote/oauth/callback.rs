//! The redirect at the end of a login.

use rmcp::transport::auth::{AuthError, AuthorizationCallback};
use url::{Url, form_urlencoded};

use super::login_error::sanitize;

/// Parses the redirect of a login with an authorization server: the code, or the error.
///
/// Anyone can redirect a browser here, so a redirect that does not belong to this login is rejected.
pub(super) fn parse_callback(login: &Url, server: &str, redirected: &str) -> Result<AuthorizationCallback, AuthError> {
    let url = Url::parse(redirected)?;
    let query = url.query();
    let error = query_value(query, "error");
    let (expected, received) = (query_value(login.query(), "state"), query_value(query, "state"));
    // Some servers omit the state when they refuse a login. Forging that achieves nothing but a refusal.
    if received != expected && (received.is_some() || error.is_none()) {
        let why = "the redirect belongs to another login";
        return Err(AuthError::AuthorizationFailed(why.to_owned()));
    }
    let Some(error) = error else { return AuthorizationCallback::from_redirect_url(redirected) };
    match query_value(query, "iss") {
        Some(issuer) if issuer != server => Err(AuthError::AuthorizationServerMismatch {
            expected_issuer: server.to_owned(),
            received_issuer: sanitize(&issuer),
        }),
        _ => {
            let description = query_value(query, "error_description");
            let why = description.map_or_else(|| error.clone(), |description| format!("{description} ({error})"));
            Err(AuthError::AuthorizationFailed(sanitize(&why)))
        }
    }
}

/// Returns the last value of a query parameter, which is the one that rmcp uses, too.
pub(super) fn query_value(query: Option<&str>, name: &str) -> Option<String> {
    let values = form_urlencoded::parse(query?.as_bytes()).filter(|(key, _)| key == name);
    values.last().map(|(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_only_the_redirect_of_this_login() {
        let login = Url::parse("https://login.example/authorize?state=s1&client_id=us").unwrap();
        let back = |query: &str| {
            let redirected = format!("http://127.0.0.1:1/back?{query}");
            parse_callback(&login, "https://login.example", &redirected).map_err(|error| error.to_string())
        };
        let callback = back("code=c0de&state=s1&iss=https://login.example").unwrap();
        assert_eq!((&*callback.code, &*callback.csrf_token), ("c0de", "s1"));
        assert!(callback.issuer.is_some(), "compared when the code is exchanged");
        for (query, why) in [
            ("code=c0de&state=s2", "another login"),
            ("code=c0de&state=s1&state=s2", "another login"),
            ("code=c0de", "another login"),
            ("error=access_denied&state=s2", "another login"),
            ("state=s1", "missing code"),
            ("error=access_denied&state=s1&iss=https://evil.example", "issuer mismatch"),
            ("error=access_denied&state=s1&iss=https://login.example", "access_denied"),
            ("error=access_denied&error_description=Not%20to%1b[2Jday%0A", "Not to[2Jday (access_denied)"),
        ] {
            let error = back(query).unwrap_err();
            assert!(error.contains(why), "{query}: {error}");
        }
        let endless = back(&format!("error={}&state=s1", "x".repeat(9_000))).unwrap_err();
        assert!(endless.len() < 600, "{}", endless.len());
    }
}
