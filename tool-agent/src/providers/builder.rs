//! A provider by what the code says.

use std::fmt;

use super::key::Key;
use super::known::{self, Known};
use super::transport::{self, Transport};
use super::{PATIENCE, Provider, SetupError};

/// Collects which model is asked, and where; see [`Provider::openai`] and the others beside it.
#[derive(Clone)]
#[must_use = "a builder does nothing until `build()`"]
pub struct ProviderBuilder {
    known: &'static Known,
    model: String,
    base: Option<Base>,
    key: Option<String>,
}

/// A base URL, and what it is called where it is wrong.
#[derive(Clone)]
struct Base {
    url: String,
    called: String,
}

impl ProviderBuilder {
    pub(super) fn new(known: &'static Known, model: impl Into<String>) -> Self {
        Self { known, model: model.into(), base: None, key: None }
    }

    /// Where the provider is, or somebody who speaks as it does: `http://127.0.0.1:8000/v1`. A server of one's own often
    /// has no keys, and then none has to be set.
    pub fn base_url(self, url: impl Into<String>) -> Self {
        self.base_called(url, "the base URL")
    }

    pub(super) fn base_called(mut self, url: impl Into<String>, called: &str) -> Self {
        self.base = Some(Base { url: url.into(), called: called.to_owned() });
        self
    }

    /// The name of the environment variable that has the key, where it is not the provider's usual one. It has to be set
    /// then. A key itself is not taken: it does not belong into code.
    pub fn key_variable(mut self, name: impl Into<String>) -> Self {
        self.key = Some(name.into());
        self
    }

    /// The model.
    ///
    /// # Errors
    /// When the model or the URL is none, or the key is missing.
    pub fn build(self) -> Result<Provider, SetupError> {
        self.build_from(|name| std::env::var(name).ok())
    }

    /// As [`build`](Self::build), where variables are kept elsewhere: in a service's secrets, or in a test.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_from(self, variable: impl Fn(&str) -> Option<String>) -> Result<Provider, SetupError> {
        let Self { known, model, base, key } = self;
        known::check_model(known, &model)?;
        let url = match &base {
            None => known::parsed("the base URL", known.base)?,
            Some(base) => known::parsed(&base.called, base.url.trim())?,
        };
        let is_named = key.is_some();
        let names = key.map_or_else(|| known.keys.iter().map(|name| (*name).to_owned()).collect(), |name| vec![name]);
        let key = names.iter().find_map(|name| Key::new(&variable(name)?));
        if key.is_none() && (is_named || (known.needs_key && base.is_none())) {
            return Err(SetupError::new(format!("{} needs a key, and {} is not set", known.title, shown(&names[0]))));
        }
        if key.is_some() && url.scheme() == "http" && !transport::is_here(&url) {
            tracing::warn!(host = url.host_str(), "the key goes to this host unencrypted");
        }
        let client = transport::client(&url)
            .map_err(|reason| SetupError::new(format!("no connection can be made to {}: {reason}", known.title)))?;
        let protocol = known.protocol(base.is_some());
        let transport = Transport { client, base: url, key, title: known.title, patience: PATIENCE };
        let name = format!("{}/{model}", known.name);
        Ok(Provider { protocol, transport, name, model, is_streamed: true })
    }
}

/// The name of a variable, unless somebody has taken it for the place of the key.
fn shown(name: &str) -> String {
    let is_name = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    if is_name { format!("`{name}`") } else { "the variable that is named for it".to_owned() }
}

/// Without the URL, which may have a password.
impl fmt::Debug for ProviderBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ProviderBuilder");
        shown.field("provider", &self.known.name).field("model", &self.model).finish_non_exhaustive()
    }
}
