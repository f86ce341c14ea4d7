//! Tokens and stored calls that were tampered with, each with an intact control.

use serde_json::{Value, json};
use tool_model::ToolDefinition;

use super::*;
use crate::ErrorKind;

const KEY: [u8; 32] = *b"a key that is known to this test";

fn definition(sensitive: bool) -> Arc<ToolDefinition> {
    let json = json!({"description": "Purge.", "handler": "app::purge", "arguments": {}, "sensitive": sensitive});
    Arc::new(serde_json::from_value(json).unwrap())
}

fn question() -> Question {
    let mut question = Question::new("metrics.purge", definition(true), json!({"host": "web-1", "count": 3}));
    question.call_id = Some("call_1".to_owned());
    question.conversation = Some("c-1".to_owned());
    question.channel = Some("telegram".to_owned());
    question.chat = Some("42".to_owned());
    question.preview = Some(json!({"statement": "delete from points"}));
    question
}

/// A store whose contents a test can change.
#[derive(Clone, Default)]
struct OpenStore(Arc<MemoryPendingStore>);

impl OpenStore {
    async fn change(&self, id: &str, change: impl FnOnce(&mut SealedCall)) {
        let mut call = self.0.take(id).await.unwrap().unwrap();
        change(&mut call);
        self.0.put(call).await.unwrap();
    }

    async fn only(&self) -> SealedCall {
        let mut calls = self.0.list("c-1").await.unwrap();
        assert_eq!(calls.len(), 1);
        calls.remove(0)
    }
}

impl PendingStore for OpenStore {
    fn put(&self, call: SealedCall) -> PendingStoreFuture<'_, ()> {
        self.0.put(call)
    }
    fn get<'a>(&'a self, id: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>> {
        self.0.get(id)
    }
    fn take<'a>(&'a self, id: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>> {
        self.0.take(id)
    }
    fn list<'a>(&'a self, conversation: &'a str) -> PendingStoreFuture<'a, Vec<SealedCall>> {
        self.0.list(conversation)
    }
}

fn deferred() -> (Deferred, OpenStore) {
    let store = OpenStore::default();
    (Deferred::new(KEY).store(store.clone()), store)
}

async fn ask(deferred: &Deferred, question: &Question) -> PendingApproval {
    match deferred.confirm(question).await {
        Decision::Pending(pending) => pending,
        other => panic!("not pending: {other:?}"),
    }
}

fn now() -> SystemTime {
    SystemTime::now()
}

#[tokio::test]
async fn accepts_a_token_once() {
    let (deferred, _) = deferred();
    let pending = ask(&deferred, &question()).await;
    let call = deferred.redeem(&pending.token, now()).await.unwrap();
    assert_eq!((call.question, call.expires), (question(), pending.expires));
    assert_eq!(deferred.redeem(&pending.token, now()).await, Err(TokenError::Invalid));
}

#[tokio::test]
async fn rejects_a_token_altered_in_any_letter() {
    let (deferred, _) = deferred();
    let pending = ask(&deferred, &question()).await;
    let token = pending.token.as_bytes();
    assert_eq!(token.len(), 64);
    for index in 0..token.len() {
        for other in 0..128u8 {
            let mut altered = token.to_vec();
            altered[index] = other;
            let altered = String::from_utf8(altered).unwrap();
            if altered != pending.token {
                assert_eq!(deferred.redeem(&altered, now()).await, Err(TokenError::Invalid), "{altered}");
            }
        }
    }
    let (start, end) = pending.token.split_at(32);
    let others = [
        String::new(),
        start.to_owned(),
        format!("{end}{start}"),
        format!("{}=", pending.token),
        format!(" {}", pending.token),
        pending.token.repeat(2),
        "A".repeat(64),
        "é".repeat(32),
        "x".repeat(1 << 20),
    ];
    for other in others {
        assert_eq!(deferred.redeem(&other, now()).await, Err(TokenError::Invalid));
    }
    // None of these attempts has spent the token.
    assert!(deferred.redeem(&pending.token, now()).await.is_ok());
}

#[tokio::test]
async fn rejects_an_expired_token() {
    let (deferred, _) = deferred();
    let pending = ask(&deferred, &question()).await;
    let just_before = pending.expires - Duration::from_nanos(1);
    assert_eq!(deferred.redeem(&pending.token, pending.expires).await, Err(TokenError::Expired));
    // It stays spent, even if the clock goes back.
    assert_eq!(deferred.redeem(&pending.token, just_before).await, Err(TokenError::Invalid));

    let pending = ask(&deferred, &question()).await;
    let just_before = pending.expires - Duration::from_nanos(1);
    assert!(deferred.redeem(&pending.token, just_before).await.is_ok());

    // A wrong token does not learn that the call has expired.
    let pending = ask(&deferred, &question()).await;
    let wrong = pending.token.replace(|_: char| true, "A");
    assert_eq!(deferred.redeem(&wrong, pending.expires).await, Err(TokenError::Invalid));
}

#[tokio::test]
async fn rejects_tokens_and_calls_that_were_swapped() {
    let (deferred, store) = deferred();
    let first = ask(&deferred, &question()).await;
    let second = ask(&deferred, &question()).await;
    assert_ne!(first.token, second.token, "each pending call has its own token");
    // The ID of one with the tag of the other. An ID has 16 bytes, which are a little more than 21 letters.
    let mixed = format!("{}{}", &first.token[..22], &second.token[22..]);
    assert_eq!(deferred.redeem(&mixed, now()).await, Err(TokenError::Invalid));

    // One call in the place of another: under the other's ID, and its sealed part alone.
    let mut harmless = question();
    harmless.arguments = json!({"host": "web-9", "count": 0});
    let second = ask(&deferred, &harmless).await;
    let ids = [&first.token, &second.token].map(|token| ApprovalToken::decode(token).unwrap().id());
    let mut other = store.take(&ids[0]).await.unwrap().unwrap();
    let mut alone = store.take(&ids[1]).await.unwrap().unwrap();
    other.id.clone_from(&ids[1]);
    alone.sealed.clone_from(&other.sealed);
    for swapped in [other, alone] {
        store.put(swapped).await.unwrap();
        assert_eq!(deferred.redeem(&second.token, now()).await, Err(TokenError::Invalid));
    }
}

type Change = fn(&mut PendingCall);

const CHANGES: [(&str, Change); 15] = [
    ("arguments", |call| call.question.arguments["host"] = json!("web-2")),
    ("an argument's type", |call| call.question.arguments["count"] = json!("3")),
    ("another argument", |call| call.question.arguments["force"] = json!(true)),
    ("no arguments", |call| call.question.arguments = Value::Null),
    ("tool", |call| call.question.tool = "metrics.drop".to_owned()),
    ("definition", |call| call.question.definition = definition(false)),
    ("fingerprint", |call| call.question.fingerprint = "0".repeat(32)),
    ("call id", |call| call.question.call_id = Some("call_2".to_owned())),
    ("no call id", |call| call.question.call_id = None),
    ("conversation", |call| call.question.conversation = Some("c-2".to_owned())),
    ("channel", |call| call.question.channel = Some("mail".to_owned())),
    ("chat", |call| call.question.chat = Some("43".to_owned())),
    ("no chat", |call| call.question.chat = None),
    ("preview", |call| call.question.preview = None),
    ("expiry", |call| call.expires += Duration::from_secs(1)),
];

/// Changes a call and seals it again with the right key, which the cipher cannot detect. Only the token does not match.
async fn change_and_seal(store: &OpenStore, change: Change) {
    let key = SealingKey::from(KEY);
    let sealed = store.only().await;
    let mut call = seal::open(&key, &sealed).unwrap();
    change(&mut call);
    let changed = seal::seal(&key, &call).unwrap();
    store.change(&sealed.id, |call| *call = changed).await;
}

#[tokio::test]
async fn rejects_a_token_after_its_call_was_changed() {
    for (what, change) in CHANGES {
        let (deferred, store) = deferred();
        let pending = ask(&deferred, &question()).await;
        let before = store.only().await;
        change_and_seal(&store, change).await;
        assert_eq!(deferred.redeem(&pending.token, now()).await, Err(TokenError::Invalid), "{what}");
        // The control: the original call is accepted.
        store.change(&before.id.clone(), |call| *call = before).await;
        assert!(deferred.redeem(&pending.token, now()).await.is_ok(), "{what}");
    }
}

type StoredChange = fn(&mut SealedCall);

const STORED_CHANGES: [(&str, StoredChange); 6] = [
    ("another conversation", |call| call.conversation = Some("c-2".to_owned())),
    ("no conversation", |call| call.conversation = None),
    ("a later expiry", |call| call.expires += Duration::from_secs(1)),
    ("nothing", |call| call.sealed.clear()),
    ("no base64", |call| call.sealed = "*".repeat(100)),
    ("other content", |call| call.sealed = "A".repeat(400)),
];

#[tokio::test]
async fn rejects_a_call_altered_in_the_store() {
    let (deferred, store) = deferred();
    let pending = ask(&deferred, &question()).await;
    let before = store.only().await;
    let changed = STORED_CHANGES.map(|(what, change)| {
        let mut call = before.clone();
        change(&mut call);
        (what.to_owned(), call)
    });
    let letters = (0..before.sealed.len()).map(|index| {
        let mut call = before.clone();
        let other = if call.sealed.as_bytes()[index] == b'A' { "B" } else { "A" };
        call.sealed.replace_range(index..=index, other);
        (format!("letter {index}"), call)
    });
    for (what, call) in changed.iter().map(|(what, call)| (what.clone(), call.clone())).chain(letters) {
        store.change(&before.id, |kept| *kept = call).await;
        assert_eq!(deferred.redeem(&pending.token, now()).await, Err(TokenError::Invalid), "{what}");
        let listed = [deferred.waiting("c-1", now()).await.unwrap(), deferred.waiting("c-2", now()).await.unwrap()];
        assert!(listed.concat().is_empty(), "{what}: an altered call must not be listed");
    }
    store.change(&before.id.clone(), |call| *call = before).await;
    assert_eq!(deferred.waiting("c-1", now()).await.unwrap().len(), 1);
    assert!(deferred.redeem(&pending.token, now()).await.is_ok());
}

/// The control: tokens without a MAC accept all of these changes.
#[tokio::test]
async fn tokens_without_a_mac_would_accept_changed_calls() {
    async fn naive_redeem(store: &OpenStore, token: &str) -> Option<PendingCall> {
        let id = ApprovalToken::decode(token)?.id();
        seal::open(&SealingKey::from(KEY), &store.take(&id).await.unwrap()?)
    }
    for (what, change) in CHANGES {
        let (deferred, store) = deferred();
        let pending = ask(&deferred, &question()).await;
        change_and_seal(&store, change).await;
        assert!(
            naive_redeem(&store, &pending.token)
                .await
                .is_some_and(|call| call.question != question() || call.expires != pending.expires),
            "{what}"
        );
    }
    let (deferred, store) = deferred();
    let [first, second] = [ask(&deferred, &question()).await, ask(&deferred, &question()).await];
    let mixed = format!("{}{}", &first.token[..22], &second.token[22..]);
    assert!(naive_redeem(&store, &mixed).await.is_some());
}

/// The store reveals nothing about a call. The control is the unencrypted call.
#[tokio::test]
async fn the_store_cannot_read_a_call() {
    let (deferred, store) = deferred();
    ask(&deferred, &question()).await;
    let kept = serde_json::to_string(&store.only().await).unwrap();
    let whole = serde_json::to_string(&question()).unwrap();
    for private in ["web-1", "metrics.purge", "delete from points", "telegram", "call_1"] {
        assert!(whole.contains(private) && !kept.contains(private), "{private} is in {kept}");
    }
    // Nor can it tell whether two calls are equal.
    ask(&deferred, &question()).await;
    let calls = store.list("c-1").await.unwrap();
    assert_ne!(calls[0].sealed, calls[1].sealed);
}

/// A call that did not start can be tried again, one that started cannot, whatever its handler returned.
#[tokio::test]
async fn a_busy_result_of_the_handler_spends_the_token() {
    let busy = |(): ()| async { ToolResult::failure(crate::ToolError::new(ErrorKind::Busy, "Come back later.")) };
    let tool = crate::RuntimeTool::new("other.program", "", busy).sensitive();
    let (deferred, _) = deferred();
    let tools = crate::Dispatcher::builder().tool(tool).confirm(deferred.clone()).build().unwrap();
    let pending = tools.call(crate::ToolCall::from_text("other.program", "{}")).await;
    let token = pending.metadata.get("token").unwrap().as_str().unwrap();
    let ran = deferred.resume(token, now(), |question| tools.approve(question)).await.unwrap();
    assert_eq!(ran.error.unwrap().kind, ErrorKind::Busy);
    let again = deferred.resume(token, now(), |question| tools.approve(question)).await;
    assert_eq!(again, Err(TokenError::Invalid), "the handler ran");
}

#[tokio::test]
async fn a_call_that_did_not_start_stays_pending() {
    let failure = |kind| ToolResult::failure(crate::ToolError::new(kind, "no"));
    let done = ToolResult::success("done".to_owned());
    let (deferred, _) = deferred();
    let pending = ask(&deferred, &question()).await;
    for kind in [ErrorKind::Busy, ErrorKind::InvalidArguments, ErrorKind::TimedOut] {
        let answer = deferred.resume(&pending.token, now(), |_| async { failure(kind).not_started() }).await.unwrap();
        assert_eq!(answer, failure(kind));
    }
    assert_eq!(deferred.waiting("c-1", now()).await.unwrap()[0].0, pending, "the token is unchanged");
    let too_late =
        deferred.resume(&pending.token, pending.expires, |_| async { panic!("the token has expired") }).await;
    assert_eq!(too_late, Err(TokenError::Expired));

    for ended in [done, failure(ErrorKind::Failed), failure(ErrorKind::OutcomeUnknown), failure(ErrorKind::Busy)] {
        let pending = ask(&deferred, &question()).await;
        deferred.resume(&pending.token, now(), |_| async { ended.clone() }).await.unwrap();
        let again = deferred.resume(&pending.token, now(), |_| async { panic!("the call ran before") }).await;
        assert_eq!(again, Err(TokenError::Invalid), "{ended:?}");
    }
}

#[tokio::test]
async fn rejects_calls_of_another_key() {
    let (ours, store) = deferred();
    let pending = ask(&ours, &question()).await;
    for key in [[0; 32], {
        let mut key = KEY;
        key[31] ^= 1;
        key
    }] {
        let theirs = Deferred::new(key).store(store.clone());
        assert_eq!(theirs.redeem(&pending.token, now()).await, Err(TokenError::Invalid));
        assert!(theirs.waiting("c-1", now()).await.unwrap().is_empty());
    }
    assert!(ours.redeem(&pending.token, now()).await.is_ok());
}

#[tokio::test]
async fn accepts_tokens_after_a_restart_with_the_same_key() {
    let (before, store) = deferred();
    let pending = ask(&before, &question()).await;
    // A persistent store keeps the calls as text.
    let id = store.only().await.id;
    let text = serde_json::to_string(&store.take(&id).await.unwrap()).unwrap();
    let (after, store) = deferred();
    store.put(serde_json::from_str(&text).unwrap()).await.unwrap();

    let waiting = after.waiting("c-1", now()).await.unwrap();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].0, pending, "the token is unchanged");
    assert!(after.waiting("c-1", pending.expires).await.unwrap().is_empty());
    assert!(!text.contains(&pending.token[22..]), "the store holds no token");
    assert_eq!(after.redeem(&pending.token, now()).await.unwrap().question, question());
}

#[tokio::test]
async fn stored_calls_contain_no_token() {
    let (deferred, store) = deferred();
    let pending = ask(&deferred, &question()).await;
    let call = store.only().await;
    let base64 = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let [id, sealed] = [&call.id, &call.sealed].map(|text| base64::Engine::decode(&base64, text).unwrap());
    for tag in [&sealed[..32], &sealed[24..56], &sealed[sealed.len() - 32..]] {
        let forged = base64::Engine::encode(&base64, [&id, tag].concat());
        assert_eq!(forged.len(), pending.token.len());
        assert_eq!(deferred.redeem(&forged, now()).await, Err(TokenError::Invalid));
    }
}

/// Of concurrent approvals, exactly one runs the call.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_approvals_run_the_call_once() {
    for _ in 0..50 {
        let (deferred, _) = deferred();
        let token = ask(&deferred, &question()).await.token;
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let (deferred, token) = (deferred.clone(), token.clone());
                tokio::spawn(async move { deferred.redeem(&token, now()).await.is_ok() })
            })
            .collect();
        let mut redeemed = 0;
        for task in tasks {
            redeemed += usize::from(task.await.unwrap());
        }
        assert_eq!(redeemed, 1);
    }
}

#[tokio::test]
async fn a_full_store_rejects_new_calls_and_keeps_pending_ones() {
    let deferred = Deferred::new(KEY).store(MemoryPendingStore::with_capacity(2));
    let waiting = [ask(&deferred, &question()).await, ask(&deferred, &question()).await];
    assert!(matches!(deferred.confirm(&question()).await, Decision::Refuse(Some(_))));
    for pending in &waiting {
        assert!(deferred.redeem(&pending.token, now()).await.is_ok());
    }
    // Expired calls make room.
    let short = deferred.expires_in(Duration::ZERO);
    for _ in 0..10 {
        ask(&short, &question()).await;
    }
}

/// A few large calls must not exhaust the memory.
#[tokio::test]
async fn limits_the_size_of_the_store() {
    let store = MemoryPendingStore::default();
    let call =
        |id: &str, bytes| SealedCall::new(id, None, SystemTime::now() + Duration::from_secs(60), "x".repeat(bytes));
    assert!(store.put(call("1", 40_000_000)).await.is_ok());
    assert!(store.put(call("2", 40_000_000)).await.is_err());
    assert!(store.put(call("3", 1_000)).await.is_ok());
    assert!(store.get("1").await.unwrap().is_some());
}

#[tokio::test]
async fn refuses_if_the_store_fails() {
    struct Broken;
    fn broken<T>() -> PendingStoreFuture<'static, T> {
        Box::pin(async { Err(PendingStoreError::new("disk on fire in /var/lib/secret")) })
    }
    impl PendingStore for Broken {
        fn put(&self, _: SealedCall) -> PendingStoreFuture<'_, ()> {
            broken()
        }
        fn get<'a>(&'a self, _: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>> {
            broken()
        }
        fn take<'a>(&'a self, _: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>> {
            broken()
        }
        fn list<'a>(&'a self, _: &'a str) -> PendingStoreFuture<'a, Vec<SealedCall>> {
            broken()
        }
    }
    let deferred = Deferred::new(KEY).store(Broken);
    let Decision::Refuse(Some(reason)) = deferred.confirm(&question()).await else { panic!("not refused") };
    assert!(!reason.contains("/var"), "{reason}");
    assert_eq!(deferred.redeem(&"A".repeat(64), now()).await, Err(TokenError::Unavailable));
    assert_eq!(deferred.waiting("c-1", now()).await, Err(TokenError::Unavailable));
}

#[test]
fn keeps_expiries_below_a_second() {
    let now = UNIX_EPOCH + Duration::from_micros(1_700_000_000_999_400);
    for milliseconds in [1, 900, 1_500] {
        let expires = expiry(now, Duration::from_millis(milliseconds)).unwrap();
        assert_eq!(expires, UNIX_EPOCH + Duration::from_millis(1_700_000_000_999 + milliseconds));
        assert!(expires > now, "it must not expire at once");
    }
}

#[test]
fn rejects_an_expiry_out_of_range() {
    assert_eq!(expiry(now(), Duration::MAX), None);
}

#[test]
fn debug_output_hides_the_key() {
    let shown = format!("{:?} {:?}", SealingKey::from(KEY), Deferred::new(KEY));
    assert_eq!(shown, "SealingKey(..) Deferred { expires_in: 3600s, .. }");
    assert_eq!(SealingKey::try_from(&[0; 31][..]).unwrap_err(), WeakKeyError);
    assert_ne!(SealingKey::random().unwrap().bytes(), SealingKey::random().unwrap().bytes());
}

/// Numbers must round-trip through a store, or valid tokens would be rejected. Without serde_json's `float_roundtrip` one
/// in eight of these does not.
#[test]
fn numbers_round_trip_through_a_store() {
    let mut bits: u64 = 0x9e37_79b9_7f4a_7c15;
    for _ in 0..10_000 {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        let degrees = json!((bits >> 11) as f64 / (1u64 << 53) as f64 * 360.0 - 180.0);
        assert_eq!(serde_json::from_str::<Value>(&degrees.to_string()).unwrap(), degrees);
    }
}

#[tokio::test]
async fn lists_all_pending_calls_if_the_store_can() {
    let deferred = Deferred::new(KEY);
    let elsewhere = Question { conversation: None, ..question() };
    let mut asked = [ask(&deferred, &question()).await.token, ask(&deferred, &elsewhere).await.token];
    let tokens = async |now| {
        let waiting = deferred.all_waiting(now).await.unwrap();
        let mut tokens: Vec<String> = waiting.into_iter().map(|(pending, _)| pending.token).collect();
        tokens.sort();
        tokens
    };
    asked.sort();
    assert_eq!(tokens(now()).await, asked);
    assert_eq!(deferred.waiting("c-1", now()).await.unwrap().len(), 1, "the control");
    assert!(tokens(now() + Duration::from_secs(2 * 60 * 60)).await.is_empty(), "expired calls are not listed");

    let only_one_conversation = self::deferred().0;
    assert_eq!(only_one_conversation.all_waiting(now()).await, Err(TokenError::Unavailable));
}
