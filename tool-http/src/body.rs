//! What a request brings.

use std::error::Error;
use std::time::Duration;

use axum::body::Body;
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use crate::Problem;

/// How much a request may bring, and how long it may take to do so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyLimits {
    pub(crate) bytes: usize,
    pub(crate) time: Duration,
}

impl BodyLimits {
    /// The body as text that says it is JSON. Nothing, if there is none.
    pub(crate) async fn text(self, headers: &HeaderMap, body: Body) -> Result<String, Problem> {
        let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if announced.is_some_and(|length: u64| length > self.bytes as u64) {
            return Err(self.too_large());
        }
        let read = tokio::time::timeout(self.time, Limited::new(body, self.bytes).collect()).await;
        let bytes = match read {
            Err(_) => return Err(self.too_slow()),
            Ok(Err(error)) if is_length(&*error) => return Err(self.too_large()),
            Ok(Err(error)) => return Err(Problem::bad_request("body", format!("The body cannot be read: {error}"))),
            Ok(Ok(read)) => read.to_bytes(),
        };
        if bytes.is_empty() {
            return Ok(String::new());
        }
        if !is_json(headers) || headers.contains_key(header::CONTENT_ENCODING) {
            let detail = "Send JSON as it is, with `Content-Type: application/json`.";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", detail));
        }
        String::from_utf8(bytes.into()).map_err(|_| Problem::bad_request("body", "JSON is UTF-8, and this is not."))
    }

    /// The body as a value that is written as an object.
    pub(crate) async fn json<T: DeserializeOwned>(self, headers: &HeaderMap, body: Body) -> Result<T, Problem> {
        let text = self.text(headers, body).await?;
        if !text.trim_start().starts_with('{') {
            // A list would be taken for the fields in their order.
            return Err(Problem::bad_request("body", "The body is a JSON object: see `openapi.json`."));
        }
        serde_json::from_str(&text).map_err(|error| {
            Problem::bad_request("body", format!("The body is not what is asked for: {error}. See `openapi.json`."))
        })
    }

    fn too_large(self) -> Problem {
        let detail = format!("Send at most {} bytes.", self.bytes);
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
    }

    fn too_slow(self) -> Problem {
        let detail = format!("Send the whole body within {:?}.", self.time);
        Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", detail)
    }
}

/// Whether the body says that it is JSON, which no form of a page can say.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let said = headers.get(header::CONTENT_TYPE).and_then(|said| said.to_str().ok()).unwrap_or_default();
    let essence = said.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

fn is_length(error: &(dyn Error + 'static)) -> bool {
    error.is::<LengthLimitError>()
}
