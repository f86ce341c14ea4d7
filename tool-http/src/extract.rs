//! Parts of a request, or the problem with them.

use axum::extract::{FromRequestParts, Path, Query};
use http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::Problem;

/// The query. A key that does not exist is a problem: `?dryrun=true` must not run anything.
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let read = Query::try_from_uri(&parts.uri);
        let Query(query) = read.map_err(|error| Problem::bad_request("query", format!("{}.", error.body_text())))?;
        Ok(Self(query))
    }
}

/// A query that asks for nothing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// The name in the path.
pub(crate) struct Name(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = Path::from_request_parts(parts, state).await;
        read.map(|Path(name)| Self(name))
            .map_err(|error| Problem::bad_request("path", format!("{}.", error.body_text())))
    }
}
