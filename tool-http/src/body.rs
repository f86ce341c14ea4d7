//! Request bodies, limited in size and time.

use std::error::Error;
use std::time::Duration;

use axum::body::Body;
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use crate::Problem;

/// Limits on the size of a request body and the time to receive it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyLimits {
    pub(crate) bytes: usize,
    pub(crate) time: Duration,
}

impl BodyLimits {
    /// Reads the body as text whose content type is JSON. Returns an empty string if there is no body.
    pub(crate) async fn text(self, headers: &HeaderMap, body: Body) -> Result<String, Problem> {
        let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if announced.is_some_and(|length: u64| length > self.bytes as u64) {
            return Err(self.too_large());
        }
        let read = tokio::time::timeout(self.time, Limited::new(body, self.bytes).collect()).await;
        let bytes = match read {
            Err(_) => return Err(self.too_slow()),
            Ok(Err(error)) if is_length(&*error) => return Err(self.too_large()),
            Ok(Err(error)) => return Err(Problem::bad_request("body", format!("Cannot read the body: {error}"))),
            Ok(Ok(read)) => read.to_bytes(),
        };
        if bytes.is_empty() {
            return Ok(String::new());
        }
        if !is_json(headers) || headers.contains_key(header::CONTENT_ENCODING) {
            let detail = "Send uncompressed JSON with `Content-Type: application/json`.";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", detail));
        }
        String::from_utf8(bytes.into()).map_err(|_| Problem::bad_request("body", "The body is not valid UTF-8."))
    }

    /// Deserializes the body, which must be a JSON object.
    pub(crate) async fn json<T: DeserializeOwned>(self, headers: &HeaderMap, body: Body) -> Result<T, Problem> {
        let text = self.text(headers, body).await?;
        if !text.trim_start().starts_with('{') {
            // serde would accept an array as the fields in their order.
            return Err(Problem::bad_request("body", "The body must be a JSON object; see `openapi.json`."));
        }
        serde_json::from_str(&text).map_err(|error| {
            Problem::bad_request("body", format!("The body does not match the schema: {error}. See `openapi.json`."))
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

/// Returns `true` if the content type is JSON, which an HTML form cannot send.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

fn is_length(error: &(dyn Error + 'static)) -> bool {
    error.is::<LengthLimitError>()
}
