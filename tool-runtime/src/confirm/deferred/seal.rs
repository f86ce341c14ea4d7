//! Encryption of pending calls, so that their store need not be trusted.
//!
//! A call is stored with its secrets, or it could not run later. It is always encrypted as a whole, since not only
//! arguments marked as secret are private. The authenticated cipher detects every change.

use std::time::UNIX_EPOCH;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use hmac::Mac;
use zeroize::Zeroizing;

use super::approval_token::keyed;
use super::pending_store::PendingStoreError;
use super::{PendingCall, SealedCall, SealingKey};

/// XChaCha20's nonce is long enough to be random.
const NONCE: usize = 24;

/// Encrypts a call for a store.
pub(super) fn seal(key: &SealingKey, call: &PendingCall) -> Result<SealedCall, PendingStoreError> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(PendingStoreError::new)?;
    let question = Zeroizing::new(serde_json::to_vec(&call.question).map_err(PendingStoreError::new)?);
    let mut sealed = SealedCall::new(call.id.clone(), call.question.conversation.clone(), call.expires, String::new());
    let encrypted =
        encrypt(key, nonce, &question, &sealed).ok_or_else(|| PendingStoreError::new("cannot encrypt the call"))?;
    sealed.sealed = URL_SAFE_NO_PAD.encode([&nonce, &*encrypted].concat());
    Ok(sealed)
}

fn encrypt(key: &SealingKey, nonce: [u8; NONCE], question: &[u8], sealed: &SealedCall) -> Option<Vec<u8>> {
    let payload = Payload { msg: question, aad: &associated_data(sealed)? };
    cipher(key)?.encrypt(&XNonce::from(nonce), payload).ok()
}

/// Decrypts a call. Returns `None` if it was altered or sealed with another key.
pub(super) fn open(key: &SealingKey, sealed: &SealedCall) -> Option<PendingCall> {
    let bytes = URL_SAFE_NO_PAD.decode(&sealed.sealed).ok()?;
    let (nonce, encrypted) = bytes.split_first_chunk::<NONCE>()?;
    let payload = Payload { msg: encrypted, aad: &associated_data(sealed)? };
    let question = Zeroizing::new(cipher(key)?.decrypt(&XNonce::from(*nonce), payload).ok()?);
    let question = serde_json::from_slice(&question).ok()?;
    Some(PendingCall { id: sealed.id.clone(), question, expires: sealed.expires })
}

/// Returns the cipher, with a key derived for this purpose: the MAC of tokens must not share it.
fn cipher(key: &SealingKey) -> Option<XChaCha20Poly1305> {
    let derived = keyed(key, "tool-runtime confirmation store 1", &[])?.finalize().into_bytes();
    let derived = Zeroizing::new(<[u8; 32]>::from(derived));
    XChaCha20Poly1305::new_from_slice(&*derived).ok()
}

/// Returns the unencrypted fields, which the cipher authenticates.
fn associated_data(sealed: &SealedCall) -> Option<Vec<u8>> {
    let expires = sealed.expires.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    serde_json::to_vec(&(&sealed.id, &sealed.conversation, expires.to_string())).ok()
}
