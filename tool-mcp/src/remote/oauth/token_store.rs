//! Storage of tokens.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rmcp::transport::auth::{
    AuthError, CredentialRefreshGuard, CredentialStore, InMemoryCredentialStore, StoredCredentials,
};

/// The token store.
#[derive(Clone)]
pub(super) enum TokenStore {
    /// In memory, one store per server URL, so that no server receives the token of another.
    InMemory(Arc<Mutex<BTreeMap<String, InMemoryCredentialStore>>>),
    /// A store of the application.
    Custom(Arc<dyn CredentialStore>),
}

impl TokenStore {
    /// Returns the store for the server at a URL.
    pub(super) fn for_url(&self, url: &str) -> Arc<dyn CredentialStore> {
        match self {
            Self::InMemory(stores) => {
                let mut stores = stores.lock().unwrap_or_else(PoisonError::into_inner);
                Arc::new(stores.entry(url.to_owned()).or_default().clone())
            }
            Self::Custom(store) => store.clone(),
        }
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::InMemory(this), Self::InMemory(other)) => Arc::ptr_eq(this, other),
            (Self::Custom(this), Self::Custom(other)) => Arc::ptr_eq(this, other),
            _ => false,
        }
    }
}

impl Default for TokenStore {
    fn default() -> Self {
        Self::InMemory(Arc::default())
    }
}

/// An adapter, because rmcp takes a store by value.
pub(super) struct SharedStore(pub(super) Arc<dyn CredentialStore>);

#[async_trait]
impl CredentialStore for SharedStore {
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
