//! The client that speaks HTTP for us.

use std::error::Error;
use std::time::Duration;

use ::http::StatusCode;
use reqwest::Client;
use reqwest::redirect::Policy;

/// A client that goes where it is sent, and nowhere else.
pub(super) fn client() -> Result<Client, Box<dyn Error>> {
    let mut tls = tool_net::tls::client_config()?;
    // Only HTTP/1.1 is offered, which every MCP server speaks.
    tls.alpn_protocols.clear();
    let client = Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(same_origin())
        .referer(false)
        .connect_timeout(Duration::from_secs(10))
        // Little becomes much by unpacking: what is limited is what came.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate();
    Ok(client.build()?)
}

/// Only what keeps the request as it is, and only to where it would have gone: headers may be secrets.
fn same_origin() -> Policy {
    Policy::custom(|attempt| {
        let keeps_body = matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let from = attempt.previous().first().map(url::Url::origin);
        if !keeps_body || from != Some(attempt.url().origin()) {
            attempt.stop()
        } else if attempt.previous().len() > 5 {
            attempt.error("redirected too often")
        } else {
            attempt.follow()
        }
    })
}
