//! Problem details for failed requests (RFC 9457).
//!
//! `problem_details` 0.11 was tried instead. It cannot describe itself to schemars, which writes the OpenAPI document,
//! and carries no header such as `Retry-After`. It would replace four fields and one line that sets the content type.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// Problem details of a failed request: an RFC 9457 document with the type `application/problem+json`.
///
/// ```
/// use axum::http::StatusCode;
/// use tool_http::Problem;
///
/// let problem = Problem::new(StatusCode::FORBIDDEN, "no_user", "Sign in first.");
/// assert_eq!(
///     serde_json::to_string(&problem)?,
///     r#"{"status":403,"title":"Forbidden","kind":"no_user","detail":"Sign in first."}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
#[must_use = "a problem has no effect until it is returned"]
pub struct Problem(Box<ProblemDocument>);

/// Problem details of a failed request.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct ProblemDocument {
    /// The status of the response.
    #[serde(serialize_with = "as_number")]
    #[schemars(with = "u16")]
    status: StatusCode,
    /// The reason phrase of the status.
    title: &'static str,
    /// The machine-readable kind of problem.
    kind: Cow<'static, str>,
    /// The message: the cause and how to fix it.
    detail: String,
    /// Delay in seconds after which to retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    #[serde(skip)]
    #[schemars(skip)]
    header: Option<(HeaderName, HeaderValue)>,
}

impl Problem {
    /// Creates a problem with a status, a machine-readable kind, and a message that says what to do.
    pub fn new(status: StatusCode, kind: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or("Problem");
        let (kind, detail) = (kind.into(), detail.into());
        Self(Box::new(ProblemDocument { status, title, kind, detail, retry_after: None, header: None }))
    }

    /// Sets the delay after which to retry, if it is known, in the document and in the `Retry-After` header.
    pub fn with_retry_after(mut self, time: impl Into<Option<Duration>>) -> Self {
        if let Some(time) = time.into() {
            let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
            self.0.retry_after = Some(seconds);
            self.0.header = Some((header::RETRY_AFTER, seconds.into()));
        }
        self
    }

    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.header = Some((name, value));
        self
    }

    pub(crate) fn bad_request(kind: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, kind, detail)
    }

    /// Returns the status of the response.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// Returns the machine-readable kind of problem.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.0.kind
    }

    /// Builds a response with the status and headers of the problem, and another document.
    pub(crate) fn respond(&self, document: impl Serialize) -> Response {
        let mut response = (self.0.status, Json(document)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some((name, value)) = &self.0.header {
            headers.insert(name, value.clone());
        }
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        self.respond(&self)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.detail)
    }
}

impl std::error::Error for Problem {}

fn as_number<S: Serializer>(status: &StatusCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(status.as_u16())
}
