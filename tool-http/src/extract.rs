//! Extractors that reject with a [`Problem`].

use axum::extract::{FromRequestParts, Path, Query};
use http::request::Parts;
use serde::de::DeserializeOwned;
use tool_runtime::display::excerpt;

use crate::Problem;

/// The query string. An unknown key is rejected: `?dryrun=true` must not run anything.
pub(crate) struct QueryParams<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for QueryParams<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let read = Query::try_from_uri(&parts.uri);
        let Query(query) =
            read.map_err(|error| Problem::bad_request("query", format!("{}.", excerpt(&error.body_text()))))?;
        Ok(Self(query))
    }
}

/// The `{name}` segment of the path.
pub(crate) struct PathName(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for PathName {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = Path::from_request_parts(parts, state).await;
        read.map(|Path(name)| Self(name))
            .map_err(|error| Problem::bad_request("path", format!("{}.", excerpt(&error.body_text()))))
    }
}
