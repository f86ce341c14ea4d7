//! The secret key for tokens and sealed calls.

use std::fmt;

use zeroize::Zeroizing;

/// The secret key that tokens are made with, of at least 32 bytes. It is never printed, and zeroed on drop.
///
/// All processes that share pending calls need the same key, also after a restart. Keep it with the application's other
/// secrets.
///
/// ```
/// use tool_runtime::confirm::SealingKey;
///
/// let from_array = SealingKey::from([7; 32]);
/// let from_file = SealingKey::try_from(vec![7; 64])?;
/// assert!(SealingKey::try_from(vec![7; 16]).is_err());
/// # let _ = (from_array, from_file);
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
    const MIN_LENGTH: usize = 32;

    /// Generates a random key, for calls that need not survive a restart.
    ///
    /// # Errors
    /// Fails if the operating system provides no random bytes.
    pub fn random() -> Result<Self, std::io::Error> {
        let mut bytes = Zeroizing::new(vec![0; Self::MIN_LENGTH]);
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
        const { assert!(N >= Self::MIN_LENGTH, "a key needs at least 32 bytes") };
        let bytes = Zeroizing::new(bytes);
        Self(Zeroizing::new(bytes.to_vec()))
    }
}

impl TryFrom<Vec<u8>> for SealingKey {
    type Error = WeakKeyError;

    fn try_from(bytes: Vec<u8>) -> Result<Self, WeakKeyError> {
        let bytes = Zeroizing::new(bytes);
        if bytes.len() < Self::MIN_LENGTH { Err(WeakKeyError) } else { Ok(Self(bytes)) }
    }
}

impl TryFrom<&[u8]> for SealingKey {
    type Error = WeakKeyError;

    fn try_from(bytes: &[u8]) -> Result<Self, WeakKeyError> {
        bytes.to_vec().try_into()
    }
}

/// The error for a key of fewer than 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeakKeyError;

impl fmt::Display for WeakKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the key is too short: at least 32 random bytes are required")
    }
}

impl std::error::Error for WeakKeyError {}
