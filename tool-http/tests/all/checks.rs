//! Checks of the application.

use std::sync::{Arc, Mutex};

use axum::http::{HeaderMap, StatusCode};
use tool_http::{Api, Guard, Problem};

use crate::support::{REMOTE, SECRET, guarded, list, mounted, outcome, token, tools};

#[tokio::test]
async fn runs_checks_of_the_application() {
    fn member(headers: &HeaderMap) -> Result<(), Problem> {
        let refused = Problem::new(StatusCode::UNAUTHORIZED, "no_member", "Sign in at `/login`.");
        headers.get("x-member").map(|_| ()).ok_or(refused)
    }
    let sync = Guard::new().check(|request| member(&request.headers));
    let fetched = Guard::new().check_async(|request| async move { member(&request.headers) });
    for router in [guarded(sync), guarded(fetched)] {
        assert_eq!(outcome(&router, list(REMOTE, "203.0.113.1")).await, "no_member");
        assert_eq!(outcome(&router, list(REMOTE, "203.0.113.1").header("x-member", "1")).await, "ok");
        assert_eq!(outcome(&router, list(REMOTE, "evil.example").header("x-member", "1")).await, "host");
    }
}

/// The checks that ran, in order.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<&'static str>>>);

impl Asked {
    /// A check that passes requests with a header of its name.
    fn named(&self, name: &'static str, headers: &HeaderMap) -> Result<(), Problem> {
        self.0.lock().unwrap().push(name);
        let refused = Problem::new(StatusCode::FORBIDDEN, name, "It has another name.");
        headers.get(name).map(|_| ()).ok_or(refused)
    }

    fn add(&self, guard: Guard, name: &'static str, is_async: bool) -> Guard {
        let asked = self.clone();
        match is_async {
            false => guard.check(move |request| asked.named(name, &request.headers)),
            true => guard.check_async(move |request| {
                let asked = asked.clone();
                async move {
                    tokio::task::yield_now().await;
                    asked.named(name, &request.headers)
                }
            }),
        }
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[tokio::test]
async fn all_checks_must_pass_in_order() {
    let asked = Asked::default();
    for kinds in [0, 1, 2, 3, 4, 5, 6, 7].map(|bits| [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0]) {
        let checks = ["first", "second", "third"].into_iter().zip(kinds);
        let guard = checks.fold(Guard::new(), |guard, (name, is_async)| asked.add(guard, name, is_async));
        let router = guarded(guard);
        for (headers, expected, in_order) in [
            (&["first", "second", "third"][..], "ok", &["first", "second", "third"][..]),
            (&["second", "third"], "first", &["first"]),
            (&["first", "third"], "second", &["first", "second"]),
            (&["first", "second"], "third", &["first", "second", "third"]),
        ] {
            let request = headers.iter().fold(list(REMOTE, "203.0.113.1"), |request, name| request.header(*name, "1"));
            assert_eq!(outcome(&router, request).await, expected, "{headers:?}, {kinds:?}");
            assert_eq!(asked.take(), in_order, "{headers:?}, {kinds:?}");
        }
        // The control: the last check alone accepts the requests that earlier checks refuse.
        let alone = guarded(asked.add(Guard::new(), "third", kinds[2]));
        assert_eq!(outcome(&alone, list(REMOTE, "203.0.113.1").header("third", "1")).await, "ok");
        assert_eq!(asked.take(), ["third"]);
    }
}

#[tokio::test]
async fn requires_the_token_wherever_the_guard_is_set() {
    let guard = || Guard::new().check(|_| Ok(()));
    let request = || list(REMOTE, "203.0.113.1");
    let api = || Api::new(tools());
    for api in [api().token(token()).guard(guard()), api().guard(guard()).token(token())] {
        let router = mounted(api);
        assert_eq!(outcome(&router, request()).await, "token_missing");
        let shown = request().header("authorization", format!("Bearer {SECRET}"));
        assert_eq!(outcome(&router, shown).await, "ok");
    }
    // The control: this guard alone needs no token.
    assert_eq!(outcome(&guarded(guard()), request()).await, "ok");
}

#[tokio::test]
async fn checks_do_not_run_without_a_valid_token() {
    let asked = Asked::default();
    let router = guarded(asked.add(Guard::new().token(token()), "first", false));
    let request = || list(REMOTE, "203.0.113.1").header("first", "1");
    assert_eq!(outcome(&router, request()).await, "token_missing");
    assert!(asked.take().is_empty());
    let shown = request().header("authorization", format!("Bearer {SECRET}"));
    assert_eq!(outcome(&router, shown).await, "ok");
    assert_eq!(asked.take(), ["first"]);
}
