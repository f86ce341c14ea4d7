//! The tools `extensions.*`: enabled parts of the console.

use serde::Serialize;
use tool_runtime::{Effect, HandlerError, tool, tool_class};

use crate::background::Failures;
use crate::settings::{Extension, SettingsFile};

/// The extensions of the console.
pub struct ExtensionsService {
    settings: SettingsFile,
    failures: Failures,
}

/// The state of an extension.
#[derive(Clone, Debug, Serialize)]
pub struct ExtensionState {
    /// Its name.
    pub name: Extension,
    /// `true` if it is enabled.
    pub enabled: bool,
    /// A short description.
    pub about: &'static str,
    /// The last failure of its job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

#[tool_class(prefix = "extensions", category = "settings")]
impl ExtensionsService {
    /// Creates the service for one call.
    #[must_use]
    pub fn new(settings: SettingsFile, failures: Failures) -> Self {
        Self { settings, failures }
    }

    /// Returns the extensions of this console, with the state and the last failure of each.
    #[tool(read_only)]
    pub fn list(&self) -> Vec<ExtensionState> {
        let settings = self.settings.get();
        let state = |name: Extension| ExtensionState {
            name,
            enabled: settings.has(name),
            about: name.about(),
            failure: self.failures.last(name),
        };
        Extension::ALL.map(state).into()
    }

    /// Enables an extension immediately and stores the change in the settings. Only a user can enable `commands` and `web`.
    #[tool(sensitive, idempotent, blocking, tags = ["write"], preview = "preview_enable")]
    pub fn enable(
        &self,
        /// The extension.
        extension: Extension,
    ) -> Result<String, HandlerError> {
        check_allowed(extension)?;
        Ok(match self.settings.switch(extension, true)? {
            true => format!("`{extension}` is enabled."),
            false => format!("`{extension}` was enabled before."),
        })
    }

    fn preview_enable(&self, extension: Extension) -> Result<Effect, HandlerError> {
        check_allowed(extension)?;
        Ok(Effect::Text(format!("`{extension}` is enabled: {}", extension.about())))
    }

    /// Disables an extension. Without `ai_chat` no tools are offered, and only a user can enable it again.
    #[tool(sensitive, destructive, idempotent, blocking, tags = ["write"], preview = "preview_disable")]
    pub fn disable(
        &self,
        /// The extension.
        extension: Extension,
    ) -> Result<String, HandlerError> {
        Ok(match self.settings.switch(extension, false)? {
            true => format!("`{extension}` is disabled."),
            false => format!("`{extension}` was disabled before."),
        })
    }

    fn preview_disable(&self, extension: Extension) -> Effect {
        let end = match extension {
            Extension::AiChat => " All tools are removed, this one too.",
            _ => "",
        };
        Effect::Text(format!("`{extension}` is disabled, which did this: {}{end}", extension.about()))
    }
}

/// Rejects an extension that the model must not give to itself.
fn check_allowed(extension: Extension) -> Result<(), HandlerError> {
    match extension.is_powerful() {
        true => Err(HandlerError::fatal(format!("Only a user can enable `{extension}`, on the settings page."))),
        false => Ok(()),
    }
}
