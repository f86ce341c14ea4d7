//! Bearer tokens.

use std::{fmt, io};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::request::Parts;
use http::{HeaderMap, header};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

/// A secret that requests must carry; see [`Guard::token`](super::Guard::token). Its `Debug` output hides the secret.
///
/// ```
/// use tool_http::Token;
///
/// assert!(Token::new("password").is_err(), "it could be guessed");
/// let token = Token::random()?;
/// assert!(token.matches(token.text()) && !token.matches("password"));
/// println!("http://localhost:3000, Authorization: Bearer {}", token.text());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Minimum length of a token. Shorter ones could be guessed.
    pub const SHORTEST: usize = 16;

    /// Creates a token from a secret that the application stores.
    ///
    /// # Errors
    /// If it is shorter than [`SHORTEST`](Self::SHORTEST) or has a character that is invalid in a header.
    pub fn new(text: impl Into<String>) -> Result<Self, WeakToken> {
        let text = text.into();
        let is_valid = text.len() >= Self::SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';');
        if is_valid { Ok(Self(text)) } else { Err(WeakToken(())) }
    }

    /// Creates a random token.
    ///
    /// # Errors
    /// If the operating system provides no randomness.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Returns the secret.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Compares a string with the token in constant time, for login pages.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        TokenHash::is_any_of(text, &[self.hash()])
    }

    pub(super) fn hash(&self) -> TokenHash {
        TokenHash::new(&self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

/// Error for a token that is too short or has a character that is invalid in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeakToken(());

impl fmt::Display for WeakToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shortest = Token::SHORTEST;
        write!(
            f,
            "a token needs at least {shortest} ASCII characters, without spaces and `;`; `Token::random()` creates one"
        )
    }
}

impl std::error::Error for WeakToken {}

/// The SHA-256 hash of a token. It has a fixed length and is compared in constant time.
#[derive(Clone)]
pub(super) struct TokenHash([u8; 32]);

impl TokenHash {
    fn new(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Returns `true` if a string is one of these tokens. Compares with all of them, so that the time is constant.
    pub(super) fn is_any_of(text: &str, tokens: &[Self]) -> bool {
        let shown = Self::new(text);
        tokens.iter().fold(Choice::from(0), |found, token| found | token.0.ct_eq(&shown.0)).into()
    }
}

/// Returns the token of a request, from `Authorization: Bearer ..` or otherwise from the cookie.
pub(super) fn from_request<'a>(parts: &'a Parts, cookie: Option<&str>) -> Option<&'a str> {
    match parts.headers.get(header::AUTHORIZATION) {
        Some(value) => {
            let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start())
        }
        None => in_cookie(&parts.headers, cookie?),
    }
}

fn in_cookie<'a>(headers: &'a HeaderMap, wanted: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == wanted).map(|(_, value)| value)
}
