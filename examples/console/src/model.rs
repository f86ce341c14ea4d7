//! Which model answers.

use tool_agent::{Model, OfflineModel, ProviderModel, RetryingModel, SetupError};

/// The model that the environment names (see [`ProviderModel`]), or one that needs no network and is none.
///
/// # Errors
/// When what the environment says makes no sense, or the key is missing.
pub fn from_env() -> Result<Box<dyn Model>, SetupError> {
    Ok(match ProviderModel::from_env()? {
        Some(provider) => Box::new(RetryingModel::new(provider)),
        None => Box::new(OfflineModel),
    })
}
