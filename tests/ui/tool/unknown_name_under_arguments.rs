use tool_runtime::{tool, tool_class};

/// Find hosts.
///
/// # Arguments
/// * `hots` - The host.
/// * limt: How many.
/// * note: this is a sentence
/// * `verbose` - More output.
/// * `host` - One of:
///   * `web` - The web servers.
#[tool]
fn find(host: String, limit: u8) {
    let _ = (host, limit);
}

struct Service;

#[tool_class]
impl Service {
    /** Ping a host.

        # Arguments
        - `hst`: The host.
    */
    pub fn ping(&self, host: String) {
        drop(host);
    }
}

fn main() {
    Service.ping(String::new());
}
