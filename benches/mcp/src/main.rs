//! Calls per second and 99th percentile of our MCP server and of a plain one of the SDK: the same three tools,
//! alone and among 300, over HTTP in both generations of the protocol and over stdio.
//!
//! Both servers are separate processes that stay up. They are measured alternately, for a short time each, so that
//! other load on the machine affects both. `cargo run --release -p mcp [ROUNDS]`.

mod http;
mod ours;
mod plain;
mod stdio;
mod table;
mod wire;

use std::process::{Child, Command, Stdio};

use table::ComparisonRow;

/// The servers.
pub const SERVERS: [&str; 2] = ["rmcp", "ours"];
/// Number of calls in one turn.
pub const CALLS: usize = 1500;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", who, transport, tools] => serve(who, transport, tools.parse().expect("a number")),
        [] => contest(10),
        [rounds] => contest(rounds.parse().expect("how many rounds")),
        _ => panic!("the only argument is how many rounds"),
    }
}

fn serve(who: &str, transport: &str, tools: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
    runtime.block_on(async {
        match who {
            "ours" => ours::serve(transport, tools).await,
            _ => plain::serve(transport, tools).await,
        }
    });
}

/// A server process.
pub fn start(who: &str, transport: &str, tools: usize) -> Child {
    let program = std::env::current_exe().expect("it is a program");
    Command::new(program)
        .args(["serve", who, transport, &tools.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it can be started again")
}

fn contest(rounds: usize) {
    let mut rows = Vec::new();
    for tools in [3, 300] {
        for (transport, version) in [("http", "2026-07-28"), ("http", "2025-11-25"), ("stdio", "2025-11-25")] {
            let measured = match transport {
                "http" => http::contest(tools, version, rounds),
                _ => stdio::contest(tools, rounds),
            };
            rows.push(ComparisonRow { transport, version, tools, measured });
            println!("{}", rows[rows.len() - 1]);
        }
    }
    println!("\n{}", table::markdown(&rows));
}
