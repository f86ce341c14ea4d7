//! The tool `hosts.address`: a function with an explicit schema.

use tool_runtime::tool;

/// The full name of a host, to reach it over the network.
#[tool(
    name = "hosts.address",
    read_only,
    arguments(
        host(type = "string", pattern = "^[a-z0-9-]+$", description = "Host name, such as `web-1`."),
        port(type = "integer", minimum = 1, maximum = 65535, default = 443, description = "The port to reach.")
    )
)]
fn address(host: &str, port: u16, #[inject] domain: &str) -> String {
    format!("{host}.{domain}:{port}")
}
