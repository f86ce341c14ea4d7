//! Which model answers.

use tool_agent::{Model, Offline, Provider, Retrying, SetupError};

/// The model that the environment names (see [`Provider`]), or one that needs no network and is none.
///
/// # Errors
/// When what the environment says makes no sense, or the key is missing.
pub fn from_env() -> Result<Box<dyn Model>, SetupError> {
    Ok(match Provider::from_env()? {
        Some(provider) => Box::new(Retrying::new(provider)),
        None => Box::new(Offline),
    })
}
