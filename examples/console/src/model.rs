//! The model from the environment.

use tool_agent::{Model, OfflineModel, ProviderModel, RetryingModel, SetupError};

/// Returns the model that the environment configures (see [`ProviderModel`]), or the offline demo model.
///
/// # Errors
/// If the configuration is invalid or the key is missing.
pub fn from_env() -> Result<Box<dyn Model>, SetupError> {
    Ok(match ProviderModel::from_env()? {
        Some(provider) => Box::new(RetryingModel::new(provider)),
        None => Box::new(OfflineModel),
    })
}
