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

/// Why a request was not served, and what to do about it: a JSON document of RFC 9457, `application/problem+json`.
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
#[must_use = "a problem says nothing until it is answered"]
pub struct Problem(Box<Document>);

/// Why a request was not served, and what to do about it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct Document {
    /// The status of the response.
    #[serde(serialize_with = "as_number")]
    #[schemars(with = "u16")]
    status: StatusCode,
    /// The status in words.
    title: &'static str,
    /// What it is, in a word for programs.
    kind: Cow<'static, str>,
    /// What is wrong, and what to do about it.
    detail: String,
    /// After how many seconds another try may go well.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    #[serde(skip)]
    #[schemars(skip)]
    header: Option<(HeaderName, HeaderValue)>,
}

impl Problem {
    /// A refusal with a status, a word for programs, and a sentence that says what to do.
    pub fn new(status: StatusCode, kind: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or("Problem");
        let (kind, detail) = (kind.into(), detail.into());
        Self(Box::new(Document { status, title, kind, detail, retry_after: None, header: None }))
    }

    /// The same, with the time after which another try may go well, if it is known: in the header `Retry-After` too.
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

    /// The status of the response.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// What it is, in a word for programs.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.0.kind
    }

    /// A response of this status whose document says more than the problem itself.
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
