//! The secret behind the tokens.

use std::fmt;

use zeroize::Zeroizing;

/// The secret that tokens are made with, of 32 bytes or more. It is never shown, and wiped when it is dropped.
///
/// Every process that answers for the same calls needs the same one, a process that was restarted too: keep it where
/// the application keeps its secrets.
///
/// ```
/// use tool_runtime::confirm::SealingKey;
///
/// let of_an_array = SealingKey::from([7; 32]);
/// let of_a_file = SealingKey::try_from(vec![7; 64])?;
/// assert!(SealingKey::try_from(vec![7; 16]).is_err());
/// # let _ = (of_an_array, of_a_file);
/// # Ok::<(), tool_runtime::confirm::WeakKeyError>(())
/// ```
///
/// An array that is too short does not compile:
///
/// ```compile_fail
/// let key = tool_runtime::confirm::SealingKey::from([7; 16]);
/// ```
#[derive(Clone)]
pub struct SealingKey(Zeroizing<Vec<u8>>);

impl SealingKey {
    const LEAST: usize = 32;

    /// A key that nobody knows, for calls that need not outlive the process.
    ///
    /// # Errors
    /// When the operating system gives no random bytes.
    pub fn random() -> Result<Self, std::io::Error> {
        let mut bytes = Zeroizing::new(vec![0; Self::LEAST]);
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self(bytes))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey(..)")
    }
}

impl<const N: usize> From<[u8; N]> for SealingKey {
    fn from(bytes: [u8; N]) -> Self {
        const { assert!(N >= Self::LEAST, "a key has 32 bytes or more") };
        let bytes = Zeroizing::new(bytes);
        Self(Zeroizing::new(bytes.to_vec()))
    }
}

impl TryFrom<Vec<u8>> for SealingKey {
    type Error = WeakKeyError;

    fn try_from(bytes: Vec<u8>) -> Result<Self, WeakKeyError> {
        let bytes = Zeroizing::new(bytes);
        if bytes.len() < Self::LEAST { Err(WeakKeyError) } else { Ok(Self(bytes)) }
    }
}

impl TryFrom<&[u8]> for SealingKey {
    type Error = WeakKeyError;

    fn try_from(bytes: &[u8]) -> Result<Self, WeakKeyError> {
        bytes.to_vec().try_into()
    }
}

/// A key of fewer than 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeakKeyError;

impl fmt::Display for WeakKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the key is too short: it takes 32 random bytes or more")
    }
}

impl std::error::Error for WeakKeyError {}
