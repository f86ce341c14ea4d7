//! Rate limits.

use std::time::Duration;

use axum::body::Body;
use tool_http::Guard;
use tool_runtime::limits::Limit;

use crate::support::{LOCAL, REMOTE, SECRET, guarded, list, outcome, send, token};

#[tokio::test]
async fn limits_the_rate_per_peer() {
    let router = guarded(Guard::new().token(token()).rate(Limit::per(3, Duration::from_secs(3_600))));
    let ask = |from| list(from, "203.0.113.1").header("authorization", format!("Bearer {SECRET}"));
    for _ in 0..3 {
        assert_eq!(outcome(&router, ask(REMOTE)).await, "ok");
    }
    let answer = send(&router, ask(REMOTE).body(Body::empty()).unwrap()).await;
    assert_eq!(answer.problem(), (429, "rate".into()));
    assert!(answer.header("retry-after").parse::<u64>().unwrap() > 0);
    assert_eq!(outcome(&router, ask([203, 0, 113, 8])).await, "ok");
    // Guesses count too.
    for _ in 0..3 {
        assert_eq!(outcome(&router, list([203, 0, 113, 9], "203.0.113.1")).await, "token_missing");
    }
    assert_eq!(outcome(&router, ask([203, 0, 113, 9])).await, "rate");
}

#[tokio::test]
async fn the_rate_limit_can_be_removed() {
    let rare = || Guard::new().rate(Limit::per(3, Duration::from_secs(3_600)));
    for (guard, is_limited) in [
        (rare(), true),
        (rare().without_rate_limit(), false),
        // The last setting wins.
        (Guard::new().without_rate_limit().rate(Limit::per(3, Duration::from_secs(3_600))), true),
    ] {
        let router = guarded(guard);
        for number in 0..20 {
            let expected = if is_limited && number >= 3 { "rate" } else { "ok" };
            assert_eq!(outcome(&router, list(LOCAL, "localhost")).await, expected, "{number}");
        }
    }
    // All other rules still apply.
    let router = guarded(Guard::new().without_rate_limit());
    assert_eq!(outcome(&router, list(REMOTE, "localhost")).await, "not_local");
}
