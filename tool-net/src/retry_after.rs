//! The `Retry-After` header.

use std::time::{Duration, SystemTime};

/// Parses the value of a `Retry-After` header: a number of seconds, fractions allowed, or an HTTP date. A date in the
/// past is a wait of zero. Returns `None` for anything else.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(tool_net::retry_after("2"), Some(Duration::from_secs(2)));
/// assert_eq!(tool_net::retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
/// assert_eq!(tool_net::retry_after("soon"), None);
/// ```
pub fn retry_after(value: &str) -> Option<Duration> {
    let value = value.trim();
    match value.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => {
            let date = httpdate::parse_http_date(value).ok()?;
            Some(date.duration_since(SystemTime::now()).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_seconds_and_dates_and_nothing_else() {
        for value in ["", "-1", "NaN", "inf", "1e99", "2 s", "21 Oct 2015"] {
            assert_eq!(retry_after(value), None, "{value}");
        }
        assert_eq!(retry_after(" 0.5 "), Some(Duration::from_millis(500)));
        let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3600));
        assert!(retry_after(&date).is_some_and(|wait| (3000..=3600).contains(&wait.as_secs())));
        assert!(retry_after("Fri, 31 Dec 9999 23:59:59 GMT").is_some_and(|wait| wait > Duration::from_secs(1)));
    }
}
