//! Where tokens are kept.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rmcp::transport::auth::{
    AuthError, CredentialRefreshGuard, CredentialStore, InMemoryCredentialStore, StoredCredentials,
};

/// Where tokens are kept.
#[derive(Clone)]
pub(super) enum Store {
    /// In memory until the process ends, by the server's URL: who has the token of one server could use it there.
    InMemory(Arc<Mutex<BTreeMap<String, InMemoryCredentialStore>>>),
    /// Where the application says.
    Given(Arc<dyn CredentialStore>),
}

impl Store {
    /// The one for the server at a URL.
    pub(super) fn of(&self, url: &str) -> Arc<dyn CredentialStore> {
        match self {
            Self::InMemory(stores) => {
                let mut stores = stores.lock().unwrap_or_else(PoisonError::into_inner);
                Arc::new(stores.entry(url.to_owned()).or_default().clone())
            }
            Self::Given(store) => store.clone(),
        }
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::InMemory(this), Self::InMemory(other)) => Arc::ptr_eq(this, other),
            (Self::Given(this), Self::Given(other)) => Arc::ptr_eq(this, other),
            _ => false,
        }
    }
}

impl Default for Store {
    fn default() -> Self {
        Self::InMemory(Arc::default())
    }
}

/// A store as rmcp takes it: by value.
pub(super) struct Shared(pub(super) Arc<dyn CredentialStore>);

#[async_trait]
impl CredentialStore for Shared {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        self.0.load().await
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.0.save(credentials).await
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.0.clear().await
    }

    async fn on_refresh_token_rejected(&self, credentials: &StoredCredentials) -> Result<(), AuthError> {
        self.0.on_refresh_token_rejected(credentials).await
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        self.0.acquire_refresh_guard().await
    }
}
