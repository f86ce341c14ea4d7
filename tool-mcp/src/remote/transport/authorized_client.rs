//! An HTTP client that adds tokens, and logs in when the server requires it.

use std::collections::HashMap;
use std::sync::Arc;

use ::http::{HeaderName, HeaderValue};
use futures_core::stream::BoxStream;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use crate::remote::oauth::TokenAccess;

/// The most logins for one request: one for a token, one for further scopes.
const MAX_LOGINS: usize = 2;

/// A client that sends a token with its requests, if a login is configured.
#[derive(Clone)]
pub(super) struct AuthorizedClient<C> {
    client: C,
    access: Option<Arc<TokenAccess>>,
}

impl<C> AuthorizedClient<C> {
    pub(super) fn new(client: C, access: Option<Arc<TokenAccess>>) -> Self {
        Self { client, access }
    }

    /// Returns the given token, or else the current one.
    async fn token(&self, token: Option<String>) -> Result<Option<String>, AuthError> {
        match &self.access {
            Some(access) if token.is_none() => access.token().await,
            _ => Ok(token),
        }
    }
}

impl<C: StreamableHttpClient + Sync> StreamableHttpClient for AuthorizedClient<C> {
    type Error = C::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<C::Error>> {
        let Some(access) = &self.access else {
            return self.client.post_message(uri, message, session, token, headers).await;
        };
        let (mut refreshed, mut logins) = (false, 0);
        loop {
            let (seen, token) = (access.logins(), access.token().await?);
            let (uri, message, session) = (uri.clone(), message.clone(), session.clone());
            let error = match self.client.post_message(uri, message, session, token.clone(), headers.clone()).await {
                Err(error) if needs_login(&error) => error,
                sent => return sent,
            };
            if let (StreamableHttpError::AuthRequired(_), Some(token), false) = (&error, &token, refreshed) {
                refreshed = true;
                if access.refresh(token).await? {
                    continue;
                }
            }
            let challenge = error.auth_challenge().unwrap_or_default();
            if logins == MAX_LOGINS {
                access.record_useless_login(challenge).await;
                return Err(error);
            }
            access.login(challenge, seen).await?;
            logins += 1;
        }
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        _longest: usize,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<C::Error>> {
        self.post_message(uri, message, session, token, headers).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), StreamableHttpError<C::Error>> {
        let token = self.token(token).await?;
        self.client.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, StreamableHttpError<C::Error>> {
        let token = self.token(token).await?;
        self.client.get_stream(uri, session, last_event, token, headers).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        _longest: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, StreamableHttpError<C::Error>> {
        self.get_stream(uri, session, last_event, token, headers).await
    }
}

/// Returns `true` if a login may help. A plain `403 Forbidden` is final.
fn needs_login<E: std::error::Error + Send + Sync + 'static>(error: &StreamableHttpError<E>) -> bool {
    match error {
        StreamableHttpError::AuthRequired(_) => true,
        StreamableHttpError::InsufficientScope(error) => error.www_authenticate_header.contains("insufficient_scope"),
        _ => false,
    }
}
