//! Tokens that authorize exactly one pending call.

use std::fmt;
use std::time::UNIX_EPOCH;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{PendingCall, SealingKey};

const NONCE: usize = 16;
const TAG: usize = 32;

/// The call's random ID followed by a MAC. Together they have 48 bytes, which are exactly 64 letters of base64: a token
/// has no second spelling.
pub(super) struct ApprovalToken {
    bytes: [u8; NONCE + TAG],
}

impl ApprovalToken {
    pub(super) fn decode(text: &str) -> Option<Self> {
        let mut bytes = [0; NONCE + TAG];
        // The length is checked first, so that a long text costs nothing.
        let length = (text.len() == 64).then(|| URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok())??;
        (length == bytes.len()).then_some(Self { bytes })
    }

    /// Returns the ID of the call in the store.
    pub(super) fn id(&self) -> String {
        URL_SAFE_NO_PAD.encode(&self.bytes[..NONCE])
    }

    /// Returns `true` if the token was made for this call in its current form.
    pub(super) fn matches(&self, key: &SealingKey, call: &PendingCall) -> bool {
        self.id() == call.id && mac(key, call).is_some_and(|mac| mac.verify_slice(&self.bytes[NONCE..]).is_ok())
    }
}

/// Returns the token of a call.
pub(super) fn encode(key: &SealingKey, call: &PendingCall) -> Option<String> {
    let mut bytes = URL_SAFE_NO_PAD.decode(&call.id).ok().filter(|id| id.len() == NONCE)?;
    bytes.extend(mac(key, call)?.finalize().into_bytes());
    Some(URL_SAFE_NO_PAD.encode(bytes))
}

/// Returns a random ID for a call.
pub(super) fn random_id() -> Result<String, getrandom::Error> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce)?;
    Ok(URL_SAFE_NO_PAD.encode(nonce))
}

/// Returns the MAC over the call's ID, its expiry and the question, which contains the provider's call ID, conversation,
/// channel, chat, tool, definition, arguments and preview.
fn mac(key: &SealingKey, call: &PendingCall) -> Option<Hmac<Sha256>> {
    let expires = call.expires.duration_since(UNIX_EPOCH).ok()?.as_nanos().to_be_bytes();
    let question = tool_model::canonical(&serde_json::to_value(&call.question).ok()?);
    keyed(key, "tool-runtime confirmation token 1", &[call.id.as_bytes(), &expires, question.as_bytes()])
}

/// Returns an HMAC for one purpose. Each part is preceded by its length, so that parts cannot run into each other.
pub(super) fn keyed(key: &SealingKey, purpose: &str, parts: &[&[u8]]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.bytes()).ok()?;
    for part in [purpose.as_bytes()].iter().chain(parts) {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    Some(mac)
}

/// The error of a token that cannot be used. It reveals no details that would help an attacker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenError {
    /// The token belongs to no pending call: it is altered, made up or spent, or the call was changed.
    Invalid,
    /// The token was valid and has expired.
    Expired,
    /// The store failed; details are in the log. The token may still be valid.
    Unavailable,
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invalid => "the token is invalid",
            Self::Expired => "the token has expired",
            Self::Unavailable => "pending calls are unavailable",
        })
    }
}

impl std::error::Error for TokenError {}
