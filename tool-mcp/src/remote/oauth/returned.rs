//! What somebody brings back from a login.

use rmcp::transport::auth::{AuthError, AuthorizationCallback};
use url::{Url, form_urlencoded};

use super::told::plain;

/// The code that somebody brings back from a login with an authorization server, or why they have none.
///
/// Anybody can send a browser back: nothing is believed of what does not answer this login.
pub(super) fn code(login: &Url, server: &str, redirected: &str) -> Result<AuthorizationCallback, AuthError> {
    let returned = Url::parse(redirected)?;
    let query = returned.query();
    let error = value(query, "error");
    let (asked, answered) = (value(login.query(), "state"), value(query, "state"));
    // Some servers forget the state of a login that they refuse; whoever forges that gets us nothing but a refusal.
    if answered != asked && (answered.is_some() || error.is_none()) {
        let why = "somebody came back from another login than the one that was asked for";
        return Err(AuthError::AuthorizationFailed(why.to_owned()));
    }
    let Some(error) = error else { return AuthorizationCallback::from_redirect_url(redirected) };
    match value(query, "iss") {
        Some(issuer) if issuer != server => Err(AuthError::AuthorizationServerMismatch {
            expected_issuer: server.to_owned(),
            received_issuer: plain(&issuer),
        }),
        _ => {
            let description = value(query, "error_description");
            let why = description.map_or_else(|| error.clone(), |description| format!("{description} ({error})"));
            Err(AuthError::AuthorizationFailed(plain(&why)))
        }
    }
}

/// What a query says, the last time that it does: so does rmcp.
pub(super) fn value(query: Option<&str>, name: &str) -> Option<String> {
    let values = form_urlencoded::parse(query?.as_bytes()).filter(|(key, _)| key == name);
    values.last().map(|(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_answers_the_login_is_believed() {
        let login = Url::parse("https://login.example/authorize?state=s1&client_id=us").unwrap();
        let back = |query: &str| {
            let redirected = format!("http://127.0.0.1:1/back?{query}");
            code(&login, "https://login.example", &redirected).map_err(|error| error.to_string())
        };
        let brought = back("code=c0de&state=s1&iss=https://login.example").unwrap();
        assert_eq!((&*brought.code, &*brought.csrf_token), ("c0de", "s1"));
        assert!(brought.issuer.is_some(), "it is compared when the code is traded");
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
            let told = back(query).unwrap_err();
            assert!(told.contains(why), "{query}: {told}");
        }
        let endless = back(&format!("error={}&state=s1", "x".repeat(9_000))).unwrap_err();
        assert!(endless.len() < 600, "{}", endless.len());
    }
}
