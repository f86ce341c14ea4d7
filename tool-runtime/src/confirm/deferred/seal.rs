//! Calls in a form that a store can keep without being trusted.
//!
//! A call has to be kept whole, with its secrets, or it could not run later. So it is encrypted, always and all of it:
//! what is private in a call is not only what its tool calls a secret. The cipher also notices every change.

use std::time::UNIX_EPOCH;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use hmac::Mac;
use zeroize::Zeroizing;

use super::pending_store::PendingStoreError;
use super::token::keyed;
use super::{PendingCall, SealedCall, SealingKey};

/// Long enough to be chosen at random for each call.
const NONCE: usize = 24;

/// The call as a store keeps it.
pub(super) fn seal(key: &SealingKey, call: &PendingCall) -> Result<SealedCall, PendingStoreError> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(PendingStoreError::new)?;
    let question = Zeroizing::new(serde_json::to_vec(&call.question).map_err(PendingStoreError::new)?);
    let mut sealed = SealedCall::new(call.id.clone(), call.question.conversation.clone(), call.expires, String::new());
    let encrypted =
        encrypt(key, nonce, &question, &sealed).ok_or_else(|| PendingStoreError::new("it cannot be sealed"))?;
    sealed.sealed = URL_SAFE_NO_PAD.encode([&nonce, &*encrypted].concat());
    Ok(sealed)
}

fn encrypt(key: &SealingKey, nonce: [u8; NONCE], question: &[u8], sealed: &SealedCall) -> Option<Vec<u8>> {
    let payload = Payload { msg: question, aad: &beside(sealed)? };
    cipher(key)?.encrypt(&XNonce::from(nonce), payload).ok()
}

/// The call that was put into a store; nothing if it was altered there, or is of another key.
pub(super) fn open(key: &SealingKey, sealed: &SealedCall) -> Option<PendingCall> {
    let bytes = URL_SAFE_NO_PAD.decode(&sealed.sealed).ok()?;
    let (nonce, encrypted) = bytes.split_first_chunk::<NONCE>()?;
    let payload = Payload { msg: encrypted, aad: &beside(sealed)? };
    let question = Zeroizing::new(cipher(key)?.decrypt(&XNonce::from(*nonce), payload).ok()?);
    let question = serde_json::from_slice(&question).ok()?;
    Some(PendingCall { id: sealed.id.clone(), question, expires: sealed.expires })
}

/// A key of its own: what one cipher does with a key must not help against another.
fn cipher(key: &SealingKey) -> Option<XChaCha20Poly1305> {
    let derived = keyed(key, "tool-runtime confirmation store 1", &[])?.finalize().into_bytes();
    let derived = Zeroizing::new(<[u8; 32]>::from(derived));
    XChaCha20Poly1305::new_from_slice(&*derived).ok()
}

/// What stands beside the encrypted part, for the store to go by, and cannot be altered either.
fn beside(sealed: &SealedCall) -> Option<Vec<u8>> {
    let expires = sealed.expires.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    serde_json::to_vec(&(&sealed.id, &sealed.conversation, expires.to_string())).ok()
}
