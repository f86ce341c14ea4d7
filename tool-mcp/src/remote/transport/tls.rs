//! Which certificates are trusted, and by which library.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt;

/// rustls over ring, with the system's certificates.
pub(super) fn config() -> Result<ClientConfig, rustls::Error> {
    Ok(ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth())
}

/// Lets clients that say nothing of it use ring, unless the application has chosen.
#[cfg(feature = "auth")]
pub(in crate::remote) fn install() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // It fails only where somebody was faster, and has chosen too.
        let _chosen = ring::default_provider().install_default();
    }
}
