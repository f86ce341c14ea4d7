//! Annotated functions.

use tool_runtime::{Context, tool};

/// Pings a host, with a name, a description and a schema of its own.
#[tool(name = "custom.ping", description = "Ping a host.", arguments(host(type = "string", required = true)))]
pub fn ping_host(host: &str) -> String {
    format!("pinged {host}")
}

/// Return the number of seconds since the start.
///
/// This paragraph is for programmers.
#[tool]
pub fn uptime() -> u64 {
    60
}

/// Repeat a message.
#[tool]
pub async fn echo(message: &str, #[arg(default = 1, min = 1, max = 9)] times: u8) -> String {
    vec![message; times.into()].join(" ")
}

/// Return the channel and the chat that a call comes from.
#[tool(name = "context.origin")]
pub fn origin(#[inject] context: &Context) -> String {
    format!("{}/{}", context.channel().unwrap_or("none"), context.chat().unwrap_or("none"))
}

/// Fail in the given way.
#[tool(name = "faults.fail")]
pub fn fail(how: &str) -> Result<(), String> {
    match how {
        "panic" => panic!("the handler panicked"),
        _ => Err(format!("failed by {how}")),
    }
}

/// Wait for some milliseconds.
#[tool(name = "faults.wait")]
pub async fn wait(milliseconds: u64) -> &'static str {
    tokio::time::sleep(std::time::Duration::from_millis(milliseconds)).await;
    "done"
}
