//! What an authorization server says of itself, at the places where only it can.

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use rmcp::transport::auth::{AuthError, AuthorizationMetadata};
use url::Url;

use super::authority::is_same;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest answer that is read, in bytes.
const LONGEST: usize = 1 << 20;
/// How often somebody may be sent on.
const REDIRECTS: usize = 5;

/// The metadata that an issuer publishes. Others can publish some in its name, and rmcp does not look everywhere whether
/// they did.
pub(super) async fn published(issuer: &str) -> Result<AuthorizationMetadata, AuthError> {
    let client = Client::builder().timeout(PATIENCE).redirect(same_origin()).build()?;
    for place in places(&Url::parse(issuer)?) {
        let response = client.get(place).send().await?;
        if response.status().is_server_error() {
            response.error_for_status()?;
        } else if response.status() == StatusCode::OK
            && let Ok(metadata) = serde_json::from_slice::<AuthorizationMetadata>(&body(response).await?)
            && metadata.issuer.as_ref().is_some_and(|name| is_same(name, issuer))
        {
            return Ok(metadata);
        }
    }
    Err(AuthError::MetadataError(format!("{issuer} does not publish where to log in")))
}

/// Where metadata is published: RFC 8414, and OpenID Connect in both ways.
fn places(issuer: &Url) -> Vec<Url> {
    let (oauth, openid) = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration");
    let path = issuer.path().trim_end_matches('/');
    let mut paths = vec![format!("{oauth}{path}"), format!("{openid}{path}")];
    if !path.is_empty() {
        paths.push(format!("{path}{openid}"));
    }
    let place = |path: String| {
        let mut place = issuer.clone();
        place.set_path(&path);
        place.set_query(None);
        place.set_fragment(None);
        place
    };
    paths.into_iter().map(place).collect()
}

async fn body(mut response: Response) -> Result<Vec<u8>, AuthError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > LONGEST {
            return Err(AuthError::MetadataError(format!("{} answers without end", response.url())));
        }
    }
    Ok(body)
}

fn same_origin() -> Policy {
    Policy::custom(|attempt| {
        let from = attempt.previous().first().map(Url::origin);
        match from == Some(attempt.url().origin()) && attempt.previous().len() <= REDIRECTS {
            true => attempt.follow(),
            false => attempt.stop(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_publishes_at_its_own_places() {
        let places = |issuer: &str| places(&Url::parse(issuer).unwrap()).iter().map(Url::to_string).collect::<Vec<_>>();
        let at = |path: &str| format!("https://login.example{path}");
        let root = [at("/.well-known/oauth-authorization-server"), at("/.well-known/openid-configuration")];
        assert_eq!(places("https://login.example"), root);
        assert_eq!(places("https://login.example/?x=y"), root);
        let tenant = [
            at("/.well-known/oauth-authorization-server/a"),
            at("/.well-known/openid-configuration/a"),
            at("/a/.well-known/openid-configuration"),
        ];
        assert_eq!(places("https://login.example/a/"), tenant);
    }
}
