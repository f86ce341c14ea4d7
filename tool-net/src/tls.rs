//! The TLS configuration of HTTP clients: rustls with ring and the certificates of the system.
//!
//! Ring is chosen explicitly because the default provider of rustls builds a large C library.

use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls_platform_verifier::BuilderVerifierExt;

/// Returns the TLS configuration of clients, offering HTTP/2 and HTTP/1.1. The certificates of the system are loaded
/// once per process.
///
/// # Errors
/// If the certificates of the system cannot be loaded.
pub fn client_config() -> Result<ClientConfig, rustls::Error> {
    static CONFIG: OnceLock<Result<ClientConfig, rustls::Error>> = OnceLock::new();
    CONFIG.get_or_init(load).clone()
}

fn load() -> Result<ClientConfig, rustls::Error> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Installs ring as the process's default provider, for clients that are built without a configuration. A provider that
/// the application has installed stays.
pub fn install_default_provider() {
    if CryptoProvider::get_default().is_none() {
        // Fails only if another thread installed a provider in the meantime, which is fine too.
        let _installed = ring::default_provider().install_default();
    }
}
