//! Which model, by the environment.

use std::fmt;

use super::{Provider, ProviderBuilder, known};

/// The variable that says which model.
const MODEL: &str = "TOOL_MODEL";

/// The provider that the variables name; none where they name none.
pub(super) fn chosen(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Provider>, SetupError> {
    let set = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let Some(named) = set(MODEL).filter(|named| named != "offline") else { return Ok(None) };
    let names = || known::ALL.map(|known| known.name).join(", ");
    let Some((provider, model)) = named.split_once('/') else {
        let message = format!("`{MODEL}` is `provider/model`, such as `anthropic/claude-sonnet-5-5`, not `{named}`");
        return Err(SetupError(format!("{message}. Providers are {}", names())));
    };
    let Some(known) = known::ALL.into_iter().find(|known| known.name == provider) else {
        return Err(SetupError(format!("`{MODEL}` names the provider `{provider}`; there are {}", names())));
    };
    let mut builder = ProviderBuilder::new(known, model);
    if let Some(base) = set(known.base_variable) {
        builder = builder.base_called(base, &format!("`{}`", known.base_variable));
    }
    builder.build_from(variable).map(Some)
}

/// Why there is no model that can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupError(String);

impl SetupError {
    pub(super) fn new(message: String) -> Self {
        Self(message)
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SetupError {}
