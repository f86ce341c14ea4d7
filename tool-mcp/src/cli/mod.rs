//! From the command line to a server.

mod arguments;
mod tools;

use std::error::Error;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use clap::Parser;
use tokio::net::TcpListener;
use tool_mcp::{HttpConfig, Server};
use tool_runtime::{CancellationToken, Dispatcher};

use self::arguments::Arguments;

/// Where the bearer token is found: on a command line everybody could read it.
const TOKEN: &str = "TOOL_MCP_TOKEN";

/// Runs the program.
pub fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tool-mcp: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let tools = tools::offered(arguments)?;
    if arguments.manifest {
        return Ok(std::io::stdout().write_all(tools.manifest().to_json().as_bytes())?);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let server = Server::new(tools.clone()).name("tool-mcp");
        match arguments.http {
            None => Ok(server.stdio().await?),
            Some(port) => listen(server, &tools, arguments, port).await,
        }
    });
    // Whatever still reads the standard input must not keep the program.
    runtime.shutdown_background();
    served
}

async fn listen(server: Server, tools: &Dispatcher, arguments: &Arguments, port: u16) -> Result<(), Box<dyn Error>> {
    let token = std::env::var(TOKEN).ok().filter(|token| !token.is_empty());
    let address = SocketAddr::new(arguments.address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)), port);
    if !address.ip().is_loopback() && token.is_none() {
        return Err(format!("{} can be reached by others: set a bearer token in {TOKEN}", address.ip()).into());
    }
    let stop = CancellationToken::new();
    let mut config = HttpConfig::new().stop(stop.clone());
    config = arguments.host.iter().fold(config, HttpConfig::host);
    config = arguments.origin.iter().fold(config, HttpConfig::origin);
    if let Some(token) = token {
        config = config.bearer(token).map_err(|error| format!("{TOKEN}: {error}"))?;
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
