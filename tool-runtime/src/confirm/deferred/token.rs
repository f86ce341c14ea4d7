//! What proves that somebody was asked about exactly this call.

use std::fmt;
use std::time::UNIX_EPOCH;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{PendingCall, SealingKey};

const NONCE: usize = 16;
const TAG: usize = 32;

/// A token is the call's id, which is random, and a tag that only the key can make. Together they have 48 bytes, which
/// is 64 letters of base64 and none to spare: no two texts are the same token.
pub(super) struct Token {
    bytes: [u8; NONCE + TAG],
}

impl Token {
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut bytes = [0; NONCE + TAG];
        // The length is looked at first, so that a long text costs nothing.
        let length = (text.len() == 64).then(|| URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok())??;
        (length == bytes.len()).then_some(Self { bytes })
    }

    /// The id of the call that it is about, as stores know it.
    pub(super) fn id(&self) -> String {
        URL_SAFE_NO_PAD.encode(&self.bytes[..NONCE])
    }

    /// Whether it was made for this call, as it is now.
    pub(super) fn fits(&self, key: &SealingKey, call: &PendingCall) -> bool {
        self.id() == call.id && mac(key, call).is_some_and(|mac| mac.verify_slice(&self.bytes[NONCE..]).is_ok())
    }
}

/// The token of a call.
pub(super) fn token(key: &SealingKey, call: &PendingCall) -> Option<String> {
    let mut bytes = URL_SAFE_NO_PAD.decode(&call.id).ok().filter(|id| id.len() == NONCE)?;
    bytes.extend(mac(key, call)?.finalize().into_bytes());
    Some(URL_SAFE_NO_PAD.encode(bytes))
}

/// A name for a call that nobody can guess.
pub(super) fn random_id() -> Result<String, getrandom::Error> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce)?;
    Ok(URL_SAFE_NO_PAD.encode(nonce))
}

/// Over all that there is to know about a call: its id, its expiry, and the question with the call's id, conversation,
/// channel, chat, tool, definition, arguments and preview.
fn mac(key: &SealingKey, call: &PendingCall) -> Option<Hmac<Sha256>> {
    let expires = call.expires.duration_since(UNIX_EPOCH).ok()?.as_nanos().to_be_bytes();
    let question = tool_model::canonical(&serde_json::to_value(&call.question).ok()?);
    keyed(key, "tool-runtime confirmation token 1", &[call.id.as_bytes(), &expires, question.as_bytes()])
}

/// A keyed hash for one purpose, which is good for no other. Each part follows its length, so that none can run into
/// the next.
pub(super) fn keyed(key: &SealingKey, purpose: &str, parts: &[&[u8]]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.bytes()).ok()?;
    for part in [purpose.as_bytes()].iter().chain(parts) {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    Some(mac)
}

/// Why a token is good for nothing. It does not say more, lest it help someone who tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenError {
    /// It is not the token of a call that waits: altered, made up, used before, or the call is not what it was.
    Invalid,
    /// It was good, and is too late.
    Expired,
    /// The store could not be asked. What it said is in the log; the token may still be good.
    Unavailable,
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invalid => "the token is invalid",
            Self::Expired => "the token has expired",
            Self::Unavailable => "the calls that wait cannot be looked up now",
        })
    }
}

impl std::error::Error for TokenError {}
