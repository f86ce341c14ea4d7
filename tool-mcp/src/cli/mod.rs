//! The command-line program.

mod arguments;
mod install;
mod services;

use std::error::Error;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use clap::Parser;
use tokio::net::TcpListener;
use tool_mcp::{HttpConfig, McpServer};
use tool_runtime::{CancellationToken, Dispatcher};

use self::arguments::{ServeArguments, ToolMcpCommand};

/// The environment variable with the bearer token. Other users could read it on a command line.
const TOKEN_VARIABLE: &str = "TOOL_MCP_TOKEN";

/// Runs the program.
pub fn main() -> ExitCode {
    let arguments = ServeArguments::parse();
    // Standard output belongs to the protocol.
    arguments.log.install("info,rmcp=warn");
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tool-mcp: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &ServeArguments) -> Result<(), Box<dyn Error>> {
    if let Some(ToolMcpCommand::Install(install)) = &arguments.command {
        return Ok(install.run()?);
    }
    let tools = services::dispatcher(arguments)?;
    if arguments.manifest {
        return Ok(print(&tools.manifest().to_json())?);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let server = McpServer::new(tools.clone()).name("tool-mcp");
        match arguments.http {
            None => Ok(server.stdio().await?),
            Some(port) => listen(server, &tools, arguments, port).await,
        }
    });
    // A blocked read of the standard input must not keep the program alive.
    runtime.shutdown_background();
    served
}

/// Writes to standard output. A closed pipe, as in `tool-mcp --manifest | head`, is not an error.
fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

async fn listen(
    server: McpServer,
    tools: &Dispatcher,
    arguments: &ServeArguments,
    port: u16,
) -> Result<(), Box<dyn Error>> {
    let token = std::env::var(TOKEN_VARIABLE).ok().filter(|token| !token.is_empty());
    let address = SocketAddr::new(arguments.address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)), port);
    if !address.ip().is_loopback() && token.is_none() {
        return Err(
            format!("{} is not a loopback address: set a bearer token in {TOKEN_VARIABLE}", address.ip()).into()
        );
    }
    let stop = CancellationToken::new();
    let mut config = HttpConfig::new().stop(stop.clone());
    config = arguments.host.iter().fold(config, HttpConfig::host);
    config = arguments.origin.iter().fold(config, HttpConfig::origin);
    if let Some(token) = token {
        config = config.bearer(token).map_err(|error| format!("{TOKEN_VARIABLE}: {error}"))?;
    }
    let listener = TcpListener::bind(address).await.map_err(|error| format!("{address}: {error}"))?;
    eprintln!("tool-mcp: {} tools at http://{}/mcp", tools.definitions().len(), listener.local_addr()?);
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stop.cancel();
        }
    });
    Ok(server.listen_on(listener, config).await?)
}
