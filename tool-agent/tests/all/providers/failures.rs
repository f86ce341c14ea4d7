//! Errors, retries, and secrecy of the API key.

use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;
use tool_agent::{Message, Model, ModelErrorKind, ModelRequest, ProviderModel, RetryPolicy, RetryingModel};

use super::{Way, answered, said, variables};
use crate::server::{End, KEY, Reply, Server, Wire};

fn patiently(model: ProviderModel) -> RetryingModel<ProviderModel> {
    RetryingModel::new(model).retry(RetryPolicy::default().first_wait(Duration::from_millis(1)))
}

#[tokio::test]
async fn rate_limits_and_server_errors_are_retried() {
    for way in Way::all() {
        let failures = [Reply::status(429).retry_after("0"), Reply::status(500), Reply::status(529)];
        let server = Server::start(failures.into_iter().chain([Reply::text("Here I am.")])).await;
        let messages = [Message::user("Hi.")];
        let parts = answered(&patiently(way.model(&server)), ModelRequest::new(&messages)).await.unwrap();
        assert_eq!(said(&parts).0, "Here I am.", "{way:?}");
        let received = server.received();
        assert_eq!(received.len(), 4, "{way:?}");
        assert!(received.iter().all(|one| one.body == received[0].body), "{way:?}: each time the same");
    }
}

#[tokio::test]
async fn a_stream_that_fails_before_its_first_word_is_retried() {
    for way in Way::all().filter(|way| way.is_streamed) {
        for end in [End::Quiet, End::Broken, End::Failed] {
            let server = Server::start([Reply::text("Here I am.").cut(0, end), Reply::text("Here I am.")]).await;
            let messages = [Message::user("Hi.")];
            let parts = answered(&patiently(way.model(&server)), ModelRequest::new(&messages)).await.unwrap();
            assert_eq!((said(&parts).0.as_str(), server.left()), ("Here I am.", 0), "{way:?}, {end:?}");
        }
    }
}

#[tokio::test]
async fn a_delay_that_is_too_long_is_left_to_the_caller() {
    for way in Way::all() {
        let server = Server::start([Reply::status(429).retry_after("7200"), Reply::text("Here I am.")]).await;
        let error =
            answered(&patiently(way.model(&server)), ModelRequest::new(&[Message::user("Hi.")])).await.unwrap_err();
        assert_eq!((error.kind, error.retry_after), (ModelErrorKind::RateLimited, Some(Duration::from_secs(7200))));
        assert_eq!(server.left(), 1, "{way:?}");
    }
}

#[tokio::test]
async fn a_silent_provider_times_out() {
    for way in Way::all() {
        let stalled = Reply::text("One moment.").cut(1, End::Stalled);
        for reply in [Reply::Silence, stalled] {
            let server = Server::start([reply]).await;
            let model = way.model(&server).idle_timeout(Duration::from_millis(50));
            let error = answered(&model, ModelRequest::new(&[Message::user("Hi.")])).await.unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::TimedOut, "{way:?}: {error}");
        }
    }
}

#[tokio::test]
async fn an_unreachable_provider_is_reported() {
    for way in Way::all() {
        let server = Server::start([]).await;
        let model = way.model(&server);
        drop(server);
        // Until the port is closed.
        let error = loop {
            let error = answered(&model, ModelRequest::new(&[Message::user("Hi.")])).await.unwrap_err();
            if error.kind != ModelErrorKind::Rejected {
                break error;
            }
        };
        assert!(matches!(error.kind, ModelErrorKind::Unreachable | ModelErrorKind::Cut), "{way:?}: {error}");
        assert!(error.is_retryable());
    }
}

/// The control is the server: it repeats the key in its error, as some do.
#[tokio::test]
async fn an_api_key_is_never_shown() {
    for way in Way::all() {
        let server = Server::start([Reply::status(401).saying(&format!("the key {KEY} is wrong"))]).await;
        let model = way.model(&server);
        let error = answered(&model, ModelRequest::new(&[Message::user("Hi.")])).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::RefusedKey);
        assert!(error.message.contains("the key *** is wrong"), "{error}");
        for shown in [error.to_string(), format!("{error:?}"), format!("{model:?}"), format!("{:?}", patiently(model))]
        {
            assert!(!shown.contains(KEY), "{way:?}: {shown}");
        }
    }
}

/// Following a redirect would send the key to another host. The control is a default client, which does that.
#[tokio::test]
async fn an_api_key_is_sent_to_its_provider_only() {
    let elsewhere = Server::start([Reply::text("Here I am.").forever()]).await;
    let server = Server::start([Reply::Moved(elsewhere.address()).forever()]).await;
    for way in Way::all() {
        let error =
            answered(&patiently(way.model(&server)), ModelRequest::new(&[Message::user("Hi.")])).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Rejected, "{way:?}");
        assert!(error.message.contains("another base URL"), "{error}");
    }
    assert_eq!(elsewhere.received().len(), 0);

    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let tls = tls.with_safe_default_protocol_versions().unwrap();
    let tls = tls.with_root_certificates(RootCertStore::empty()).with_no_client_auth();
    let naive = reqwest::Client::builder().tls_backend_preconfigured(tls).no_proxy();
    let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}]}).to_string();
    let request = naive.build().unwrap().post(format!("{}/v1/messages", server.address()));
    let request = request.header("x-api-key", KEY).header("anthropic-version", "2023-06-01").body(body);
    request.send().await.unwrap();
    assert_eq!(elsewhere.received().len(), 1, "it has shown the key");
}

#[tokio::test]
async fn a_rejected_key_is_not_retried() {
    for wire in Wire::ALL {
        let server = Server::start([Reply::text("Here I am.")]).await;
        let known = variables(&server, wire);
        let other = |name: &str| if name.ends_with("_API_KEY") { Some("sk-other".to_owned()) } else { known(name) };
        let model = ProviderModel::from_variables(other).unwrap().unwrap();
        let error = answered(&patiently(model), ModelRequest::new(&[Message::user("Hi.")])).await.unwrap_err();
        assert_eq!((error.kind, server.left()), (ModelErrorKind::RefusedKey, 1));
    }
}

#[tokio::test]
async fn no_request_is_sent_before_the_stream_is_polled() {
    let server = Server::start([Reply::text("Here I am.")]).await;
    let model = Way::all().next().expect("there are ways").model(&server);
    let messages = [Message::user("Hi.")];
    drop(model.respond(ModelRequest::new(&messages)));
    tokio::task::yield_now().await;
    assert_eq!(server.left(), 1);
}
