//! Error responses of providers.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use crate::{ModelError, ModelErrorKind};

/// The maximum length of a provider's message, in characters.
const MAX_MESSAGE: usize = 500;

/// Converts a response with an error status. The body may be anything.
pub(super) fn from_status(title: &str, status: StatusCode, headers: &HeaderMap, body: &str) -> ModelError {
    let body: Value = serde_json::from_str(body).unwrap_or_else(|_| body.into());
    let error = ErrorBody::parse(&body);
    let message = match error.words.as_str() {
        "" => format!("{title} answered with {status}"),
        words => format!("{title} answered with {status}: {words}"),
    };
    let wait = retry_after_header(headers).or_else(|| retry_after_body(&body));
    ModelError::new(kind(status, &error), message).with_retry_after(wait)
}

/// Converts an event of a stream, if it reports an error.
pub(super) fn from_event(title: &str, event: &Value) -> Option<ModelError> {
    event.get("error").filter(|error| !error.is_null())?;
    let error = ErrorBody::parse(event);
    let status = event.pointer("/error/code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let status = status.and_then(|code| StatusCode::from_u16(code).ok());
    let kind = match (status, error.kind.as_str()) {
        (Some(status), _) => kind(status, &error),
        (None, "invalid_request_error" | "not_found_error") => kind(StatusCode::BAD_REQUEST, &error),
        (None, "authentication_error" | "permission_error") => ModelErrorKind::RefusedKey,
        (None, "rate_limit_error") => ModelErrorKind::RateLimited,
        (None, _) => ModelErrorKind::Server,
    };
    Some(ModelError::new(kind, format!("{title} reported an error in the stream: {}", error.words)))
}

/// The error in a provider's response.
struct ErrorBody {
    words: String,
    kind: String,
}

impl ErrorBody {
    fn parse(body: &Value) -> Self {
        let text = |path: &str| body.pointer(path).and_then(Value::as_str);
        let words = text("/error/message").or_else(|| text("/message")).or_else(|| text("/error")).or(body.as_str());
        // The code is more specific than the type.
        let kind = text("/error/code").or_else(|| text("/error/type")).or_else(|| text("/error/status"));
        Self { words: shortened(words.unwrap_or_default()), kind: kind.unwrap_or_default().to_owned() }
    }

    /// Returns `true` if the conversation exceeds the context window. Most providers only say so in the message.
    fn is_about_length(&self) -> bool {
        let words = self.words.to_lowercase();
        self.kind == "context_length_exceeded"
            || ["prompt is too long", "context length", "context window", "maximum number of tokens"]
                .iter()
                .any(|sentence| words.contains(sentence))
    }
}

fn kind(status: StatusCode, error: &ErrorBody) -> ModelErrorKind {
    match status.as_u16() {
        // Retrying does not help until the account has credit again.
        402 => ModelErrorKind::Rejected,
        429 if error.kind == "insufficient_quota" => ModelErrorKind::Rejected,
        401 | 403 => ModelErrorKind::RefusedKey,
        408 => ModelErrorKind::TimedOut,
        429 => ModelErrorKind::RateLimited,
        413 => ModelErrorKind::TooLong,
        409 | 500.. => ModelErrorKind::Server,
        _ if error.is_about_length() => ModelErrorKind::TooLong,
        _ => ModelErrorKind::Rejected,
    }
}

/// Returns the requested delay: in milliseconds, in seconds, or as a date.
fn retry_after_header(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let milliseconds = text("retry-after-ms").and_then(|wait| wait.trim().parse::<f64>().ok());
    milliseconds
        .and_then(|wait| Duration::try_from_secs_f64(wait / 1000.0).ok())
        .or_else(|| tool_net::retry_after(text(RETRY_AFTER.as_str())?))
}

/// Returns the delay in the body of a Gemini error: `"retryDelay": "34s"`.
fn retry_after_body(body: &Value) -> Option<Duration> {
    let details = body.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;
    use serde_json::json;

    use super::*;

    fn refused(status: u16, headers: &[(&'static str, &str)], body: &Value) -> ModelError {
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).try_into().unwrap(), HeaderValue::from_str(value).unwrap()))
            .collect();
        from_status("OpenAI", StatusCode::from_u16(status).unwrap(), &headers, &body.to_string())
    }

    #[test]
    fn maps_status_and_code_to_a_kind() {
        let kind = |status, body| refused(status, &[], &body).kind;
        let none = || json!({});
        assert_eq!(kind(429, none()), ModelErrorKind::RateLimited);
        assert_eq!(kind(429, json!({"error": {"code": "insufficient_quota"}})), ModelErrorKind::Rejected);
        assert_eq!(kind(529, none()), ModelErrorKind::Server);
        assert_eq!(kind(500, none()), ModelErrorKind::Server);
        assert_eq!(kind(401, none()), ModelErrorKind::RefusedKey);
        assert_eq!(kind(404, none()), ModelErrorKind::Rejected);
        assert_eq!(kind(301, none()), ModelErrorKind::Rejected);
        assert_eq!(kind(400, json!({"error": {"code": "context_length_exceeded"}})), ModelErrorKind::TooLong);
        let long = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"}});
        assert_eq!(kind(400, long), ModelErrorKind::TooLong);
    }

    #[test]
    fn reads_the_requested_delay() {
        let wait = |headers: &[_], body: Value| refused(429, headers, &body).retry_after;
        assert_eq!(wait(&[("retry-after", "2")], json!({})), Some(Duration::from_secs(2)));
        assert_eq!(wait(&[("retry-after", "0.5")], json!({})), Some(Duration::from_millis(500)));
        assert_eq!(
            wait(&[("retry-after-ms", "250"), ("retry-after", "9")], json!({})),
            Some(Duration::from_millis(250))
        );
        assert_eq!(wait(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")], json!({})), Some(Duration::ZERO));
        let later = wait(&[("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")], json!({}));
        assert!(later.is_some_and(|wait| wait > Duration::from_secs(3600)));
        for nonsense in ["soon", "-3", "NaN", "1e300"] {
            assert_eq!(wait(&[("retry-after", nonsense)], json!({})), None, "{nonsense}");
        }
        let info = json!({"error": {"details": [{"@type": "ErrorInfo"}, {"retryDelay": "34.5s"}]}});
        assert_eq!(wait(&[], info), Some(Duration::from_millis(34_500)));
    }

    #[test]
    fn reads_an_error_event_of_a_stream() {
        let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
        let error = from_event("Anthropic", &overloaded).unwrap();
        assert_eq!(
            (error.kind, error.message.as_ref()),
            (ModelErrorKind::Server, "Anthropic reported an error in the stream: Overloaded")
        );
        let upstream = json!({"error": {"code": 429, "message": "slow down"}, "choices": []});
        assert_eq!(from_event("OpenRouter", &upstream).unwrap().kind, ModelErrorKind::RateLimited);
        assert_eq!(from_event("OpenAI", &json!({"choices": [], "error": null})), None);
    }

    #[test]
    fn shortens_an_html_error_page() {
        let error = from_status("OpenAI", StatusCode::BAD_GATEWAY, &HeaderMap::new(), &"<html>".repeat(1000));
        assert!(error.message.starts_with("OpenAI answered with 502 Bad Gateway: <html>"));
        assert!(error.message.len() < 600);
    }
}
