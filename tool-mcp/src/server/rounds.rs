//! The state of calls that take several rounds.
//!
//! Between two rounds the server stores only calls that are pending approval. All other state goes to the client and
//! comes back with the next round, sealed and bound to the tool, its arguments and the caller.

use std::sync::OnceLock;
use std::time::Duration;

use http::request::Parts;
use rmcp::ErrorData;
use rmcp::model::{Extensions, InputResponses, JsonObject, RequestStateCodec, RequestStateError, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_runtime::confirm::{Deferred, PendingStore, SealingKey, WeakKeyError};

use super::http::Principal;

/// The time until the next round must arrive.
const EXPIRES_IN: Duration = Duration::from_secs(60 * 60);

/// The state of a call between two rounds.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct RoundState {
    /// The client's responses of earlier rounds.
    pub(super) responses: InputResponses,
    pub(super) approval: Option<RoundApproval>,
}

/// A call that is pending approval.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RoundApproval {
    /// The sealed token of the pending call.
    pub(super) token: String,
    /// The text shown to the user; `None` if they approved the call in an earlier round.
    pub(super) shown: Option<String>,
}

/// Seals states, and holds pending calls.
pub(super) struct StateSeal {
    codec: RequestStateCodec,
    pub(super) deferred: Deferred,
}

impl StateSeal {
    /// Creates a seal that several servers share.
    pub(super) fn with_secret(secret: Vec<u8>, store: impl PendingStore) -> Result<Self, WeakKeyError> {
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

    pub(super) fn seal(&self, state: &RoundState, associated: &str) -> Result<String, ErrorData> {
        let options = SealOptions::new().associated_data(associated.as_bytes()).ttl(EXPIRES_IN);
        self.codec.seal_json_with(state, &options).map_err(|error| seal_error(&error))
    }

    pub(super) fn open(&self, sealed: &str, associated: &str) -> Result<RoundState, ErrorData> {
        self.codec.open_json_with(sealed, associated.as_bytes()).map_err(|error| {
            ErrorData::invalid_params(format!("`requestState` does not belong to this call: {error}"), None)
        })
    }
}

fn seal_error(error: &RequestStateError) -> ErrorData {
    ErrorData::internal_error(format!("cannot seal the state of the call: {error}"), None)
}

/// A seal that is created on first use.
pub(super) struct LazySeal {
    seal: OnceLock<Result<StateSeal, String>>,
}

impl LazySeal {
    pub(super) fn new(shared: Option<StateSeal>) -> Self {
        Self { seal: shared.map(|seal| OnceLock::from(Ok(seal))).unwrap_or_default() }
    }

    pub(super) fn seal(&self) -> Result<&StateSeal, ErrorData> {
        let seal = self.seal.get_or_init(StateSeal::random).as_ref();
        seal.map_err(|error| ErrorData::internal_error(format!("cannot get random bytes: {error}"), None))
    }
}

/// Returns the associated data of a state: tool, arguments and caller.
pub(super) fn associated_data(tool: &str, arguments: Option<&JsonObject>, extensions: &Extensions) -> String {
    let caller = extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Principal>());
    tool_model::canonical(&json!([tool, arguments, caller.map(|principal| &principal.0)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_a_state_for_its_call_only() {
        let seal = StateSeal::random().unwrap();
        let arguments = |host: &str| json!({"host": host}).as_object().cloned();
        let call = |host| associated_data("reboot", arguments(host).as_ref(), &Extensions::default());
        let mut state = RoundState::default();
        state.responses.insert("name".into(), json!("ada"));
        let sealed = seal.seal(&state, &call("web-1")).unwrap();
        assert_eq!(seal.open(&sealed, &call("web-1")).unwrap().responses, state.responses);

        assert!(seal.open(&sealed, &call("web-2")).is_err(), "other arguments");
        assert!(
            seal.open(&sealed, &associated_data("halt", arguments("web-1").as_ref(), &Extensions::default())).is_err()
        );
        assert!(seal.open(&format!("{sealed}x"), &call("web-1")).is_err(), "altered");
        assert!(StateSeal::random().unwrap().open(&sealed, &call("web-1")).is_err(), "of another server");
    }

    #[test]
    fn opens_a_state_for_its_caller_only() {
        let bound_to = |name: &str| {
            let (mut parts, ()) = http::Request::new(()).into_parts();
            parts.extensions.insert(Principal(name.to_owned()));
            let mut extensions = Extensions::default();
            extensions.insert(parts);
            associated_data("reboot", None, &extensions)
        };
        let seal = StateSeal::random().unwrap();
        let sealed = seal.seal(&RoundState::default(), &bound_to("ada")).unwrap();
        assert!(seal.open(&sealed, &bound_to("ada")).is_ok());
        assert!(seal.open(&sealed, &bound_to("eve")).is_err());
    }
}
