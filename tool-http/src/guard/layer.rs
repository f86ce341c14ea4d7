//! The guard before a service.

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

use super::{Guard, Rules};
use crate::Problem;

impl<S> Layer<S> for Guard {
    type Service = Either<Cors<Guarded<S>>, Guarded<S>>;

    fn layer(&self, inner: S) -> Self::Service {
        let guarded = Guarded { rules: self.rules.clone(), inner };
        match self.rules.origins.is_empty() {
            true => Either::Right(guarded),
            false => Either::Left(cors(&self.rules).layer(guarded)),
        }
    }
}

/// What browsers have to be told about pages of other sites that may ask.
fn cors(rules: &Rules) -> CorsLayer {
    let asked = ["idempotency-key", "last-event-id", "traceparent", "x-requested-with"].map(HeaderName::from_static);
    CorsLayer::new()
        .allow_origin(rules.origins.iter().map(super::Origin::value).collect::<Vec<_>>())
        .allow_methods([Method::GET, Method::POST])
        .allow_headers(asked.into_iter().chain([header::AUTHORIZATION, header::CONTENT_TYPE]).collect::<Vec<_>>())
        .expose_headers([header::RETRY_AFTER])
        .allow_credentials(true)
        .max_age(Duration::from_secs(600))
}

/// A service behind a [`Guard`].
#[derive(Clone)]
pub struct Guarded<S> {
    rules: Arc<Rules>,
    inner: S,
}

impl<S> Service<Request> for Guarded<S>
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
        // The one that was ready is the one that is called.
        let next = self.inner.clone();
        let (rules, mut inner) = (self.rules.clone(), std::mem::replace(&mut self.inner, next));
        Box::pin(async move {
            match admitted(&rules, request).await {
                Ok(request) => inner.call(request).await,
                Err(problem) => Ok(problem.into_response()),
            }
        })
    }
}

/// Whom a request has passed: a guard before an application and the same one before what is mounted in it ask once.
#[derive(Clone)]
struct Passed(Arc<Rules>);

async fn admitted(rules: &Arc<Rules>, request: Request) -> Result<Request, Problem> {
    if request.extensions().get::<Passed>().is_some_and(|passed| Arc::ptr_eq(&passed.0, rules)) {
        return Ok(request);
    }
    let (mut parts, body) = request.into_parts();
    rules.admit(&parts).await?;
    parts.extensions.insert(Passed(rules.clone()));
    Ok(Request::from_parts(parts, body))
}
