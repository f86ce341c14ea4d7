//! How the examples get to their server.

use std::env::var;

use tool_nats::async_nats::{Client, ConnectOptions};

pub async fn connect() -> Result<Client, Box<dyn std::error::Error>> {
    let mut options = ConnectOptions::new();
    if let (Ok(user), Ok(password)) = (var("NATS_USER"), var("NATS_PASSWORD")) {
        // An inbox of its own, so that others cannot be allowed to read it.
        options = options.custom_inbox_prefix(format!("_INBOX_{user}")).user_and_password(user, password);
    }
    if let Ok(authority) = var("NATS_CA") {
        options = options.require_tls(true).add_root_certificates(authority.into());
    }
    let url = var("NATS_URL").unwrap_or_else(|_| "nats://127.0.0.1:4222".to_owned());
    Ok(options.connect(url).await?)
}
