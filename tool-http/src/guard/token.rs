//! The secret that a client shows.

use std::{fmt, io};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::request::Parts;
use http::{HeaderMap, header};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

/// A secret that every request must show; see [`Guard::token`](super::Guard::token). Its `Debug` form hides it.
///
/// ```
/// use tool_http::Token;
///
/// assert!(Token::new("password").is_err(), "it could be guessed");
/// let token = Token::random()?;
/// assert!(token.is(token.text()) && !token.is("password"));
/// println!("http://localhost:3000, Authorization: Bearer {}", token.text());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A shorter one is refused: it could be guessed.
    pub const SHORTEST: usize = 16;

    /// A token from a secret that the application keeps.
    ///
    /// # Errors
    /// When it has fewer than [`SHORTEST`](Self::SHORTEST) characters, or one that no header can carry.
    pub fn new(text: impl Into<String>) -> Result<Self, WeakToken> {
        let text = text.into();
        let is_fit = text.len() >= Self::SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';');
        if is_fit { Ok(Self(text)) } else { Err(WeakToken(())) }
    }

    /// A token that nobody can guess.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The secret itself, to be shown to whoever may call.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether a text is this token, found out in a time that does not tell how much of it is right: for a page on which
    /// people log in.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        Hashed::is_any_of(text, &[self.hashed()])
    }

    pub(super) fn hashed(&self) -> Hashed {
        Hashed::of(&self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

/// A token that is too short, or that no header can carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeakToken(());

impl fmt::Display for WeakToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shortest = Token::SHORTEST;
        write!(
            f,
            "a token has at least {shortest} ASCII characters, without spaces and `;`: `Token::random()` makes one"
        )
    }
}

impl std::error::Error for WeakToken {}

/// What is compared: it has one length, whatever the token has, and is compared in one time.
#[derive(Clone)]
pub(super) struct Hashed([u8; 32]);

impl Hashed {
    fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Whether a text is one of these tokens. All are looked at, so that the time does not tell which.
    pub(super) fn is_any_of(text: &str, tokens: &[Self]) -> bool {
        let shown = Self::of(text);
        tokens.iter().fold(Choice::from(0), |found, token| found | token.0.ct_eq(&shown.0)).into()
    }
}

/// What a request shows: in `Authorization: Bearer ..`, or else in a cookie.
pub(super) fn shown<'a>(parts: &'a Parts, cookie: Option<&str>) -> Option<&'a str> {
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
