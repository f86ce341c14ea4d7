//! The [`Guard`] as a tower layer.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, Method, header};
use tower::util::Either;
use tower::{Layer, Service};
use tower_http::cors::{Cors, CorsLayer};

use super::{Guard, GuardRules};
use crate::Problem;

impl<S> Layer<S> for Guard {
    type Service = Either<Cors<GuardService<S>>, GuardService<S>>;

    fn layer(&self, inner: S) -> Self::Service {
        let service = GuardService { rules: self.rules.clone(), inner };
        match self.rules.origins.is_empty() {
            true => Either::Right(service),
            false => Either::Left(cors(&self.rules).layer(service)),
        }
    }
}

/// Returns the CORS layer for the allowed origins.
fn cors(rules: &GuardRules) -> CorsLayer {
    let headers = ["idempotency-key", "last-event-id", "traceparent", "x-requested-with"].map(HeaderName::from_static);
    CorsLayer::new()
        .allow_origin(rules.origins.iter().map(super::Origin::value).collect::<Vec<_>>())
        .allow_methods([Method::GET, Method::POST])
        .allow_headers(headers.into_iter().chain([header::AUTHORIZATION, header::CONTENT_TYPE]).collect::<Vec<_>>())
        .expose_headers([header::RETRY_AFTER])
        .allow_credentials(true)
        .max_age(Duration::from_secs(600))
}

/// A service behind a [`Guard`].
#[derive(Clone)]
pub struct GuardService<S> {
    rules: Arc<GuardRules>,
    inner: S,
}

impl<S> Service<Request> for GuardService<S>
where
    S: Service<Request, Response = Response> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        // `poll_ready` was called on `self.inner`, so call that one and keep the clone.
        let next = self.inner.clone();
        let (rules, mut inner) = (self.rules.clone(), std::mem::replace(&mut self.inner, next));
        Box::pin(async move {
            match admit(&rules, request).await {
                Ok(request) => inner.call(request).await,
                Err(problem) => Ok(problem.into_response()),
            }
        })
    }
}

/// Marks a request that a guard has admitted, so that a guard that is layered twice checks it once.
#[derive(Clone)]
struct AdmittedBy(Arc<GuardRules>);

async fn admit(rules: &Arc<GuardRules>, request: Request) -> Result<Request, Problem> {
    if request.extensions().get::<AdmittedBy>().is_some_and(|admitted| Arc::ptr_eq(&admitted.0, rules)) {
        return Ok(request);
    }
    let (mut parts, body) = request.into_parts();
    rules.admit(&parts).await?;
    parts.extensions.insert(AdmittedBy(rules.clone()));
    Ok(Request::from_parts(parts, body))
}
