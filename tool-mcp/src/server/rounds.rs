//! Calls that are made again once the client has what it was asked for.
//!
//! Between two rounds nothing of a call is kept here but a call that waits for consent: all else goes to the client and
//! comes back with its next round, sealed and bound to the tool, its arguments and whoever called.

use std::sync::OnceLock;
use std::time::Duration;

use http::request::Parts;
use rmcp::ErrorData;
use rmcp::model::{Extensions, InputResponses, JsonObject, RequestStateCodec, RequestStateError, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_runtime::confirm::{Deferred, PendingStore, SealingKey, WeakKeyError};

use super::http::Principal;

/// How long a client has for its next round, and a person for an answer.
const EXPIRES_IN: Duration = Duration::from_secs(60 * 60);

/// What a call was up to when its client was asked for something.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct State {
    /// What the client has answered in the rounds before.
    pub(super) answers: InputResponses,
    pub(super) consent: Option<Consent>,
}

/// A call that needs consent.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Consent {
    /// That of the call that waits.
    pub(super) token: String,
    /// What the user was shown; nothing if they have agreed in an earlier round.
    pub(super) shown: Option<String>,
}

/// How states are sealed, and where calls wait.
pub(super) struct Seal {
    codec: RequestStateCodec,
    pub(super) deferred: Deferred,
}

impl Seal {
    /// For several servers that answer for each other.
    pub(super) fn shared(secret: Vec<u8>, store: impl PendingStore) -> Result<Self, WeakKeyError> {
        let key = SealingKey::try_from(secret.clone())?;
        let codec = RequestStateCodec::try_new(secret).map_err(|_| WeakKeyError)?;
        Ok(Self { codec, deferred: Deferred::new(key).expires_in(EXPIRES_IN).store(store) })
    }

    fn random() -> Result<Self, String> {
        let mut secret = vec![0; 32];
        getrandom::fill(&mut secret).map_err(|error| error.to_string())?;
        let codec = RequestStateCodec::try_new(secret).map_err(|error| error.to_string())?;
        let key = SealingKey::random().map_err(|error| error.to_string())?;
        Ok(Self { codec, deferred: Deferred::new(key).expires_in(EXPIRES_IN) })
    }

    pub(super) fn seal(&self, state: &State, bound: &str) -> Result<String, ErrorData> {
        let options = SealOptions::new().associated_data(bound.as_bytes()).ttl(EXPIRES_IN);
        self.codec.seal_json_with(state, &options).map_err(|error| unsealed(&error))
    }

    pub(super) fn open(&self, sealed: &str, bound: &str) -> Result<State, ErrorData> {
        self.codec.open_json_with(sealed, bound.as_bytes()).map_err(|error| {
            ErrorData::invalid_params(format!("`requestState` is not what was sent with this call: {error}"), None)
        })
    }
}

fn unsealed(error: &RequestStateError) -> ErrorData {
    ErrorData::internal_error(format!("the state of the call cannot be sealed: {error}"), None)
}

/// The seal, made when a call first needs it.
pub(super) struct Rounds {
    seal: OnceLock<Result<Seal, String>>,
}

impl Rounds {
    pub(super) fn new(shared: Option<Seal>) -> Self {
        Self { seal: shared.map(|seal| OnceLock::from(Ok(seal))).unwrap_or_default() }
    }

    pub(super) fn seal(&self) -> Result<&Seal, ErrorData> {
        let seal = self.seal.get_or_init(Seal::random).as_ref();
        seal.map_err(|error| ErrorData::internal_error(format!("there are no random bytes: {error}"), None))
    }
}

/// What a state belongs to: it opens with no other call.
pub(super) fn bound(tool: &str, arguments: Option<&JsonObject>, extensions: &Extensions) -> String {
    let caller = extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Principal>());
    tool_model::canonical(&json!([tool, arguments, caller.map(|principal| &principal.0)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_opens_only_with_its_call() {
        let seal = Seal::random().unwrap();
        let arguments = |host: &str| json!({"host": host}).as_object().cloned();
        let call = |host| bound("reboot", arguments(host).as_ref(), &Extensions::default());
        let mut state = State::default();
        state.answers.insert("name".into(), json!("ada"));
        let sealed = seal.seal(&state, &call("web-1")).unwrap();
        assert_eq!(seal.open(&sealed, &call("web-1")).unwrap().answers, state.answers);

        assert!(seal.open(&sealed, &call("web-2")).is_err(), "other arguments");
        assert!(seal.open(&sealed, &bound("halt", arguments("web-1").as_ref(), &Extensions::default())).is_err());
        assert!(seal.open(&format!("{sealed}x"), &call("web-1")).is_err(), "altered");
        assert!(Seal::random().unwrap().open(&sealed, &call("web-1")).is_err(), "of another server");
    }

    #[test]
    fn a_state_opens_only_for_its_caller() {
        let of = |name: &str| {
            let (mut parts, ()) = http::Request::new(()).into_parts();
            parts.extensions.insert(Principal(name.to_owned()));
            let mut extensions = Extensions::default();
            extensions.insert(parts);
            bound("reboot", None, &extensions)
        };
        let seal = Seal::random().unwrap();
        let sealed = seal.seal(&State::default(), &of("ada")).unwrap();
        assert!(seal.open(&sealed, &of("ada")).is_ok());
        assert!(seal.open(&sealed, &of("eve")).is_err());
    }
}
