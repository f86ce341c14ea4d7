//! The HTTP transport, on connections that stay open.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::table::ServerTurns;
use crate::wire::{TOOLS, call, initialize, initialized, result};
use crate::{CALLS, SERVERS, start};

const CONNECTIONS: usize = 4;

struct HttpConnection {
    address: String,
    version: &'static str,
    session: Option<String>,
    stream: BufReader<TcpStream>,
}

impl HttpConnection {
    fn open(address: &str, version: &'static str) -> Self {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_nodelay(true).expect("a socket");
        let mut connection =
            Self { address: address.to_owned(), version, session: None, stream: BufReader::new(stream) };
        if version < "2026" {
            let initialize = connection.request(&initialize(), "initialize");
            connection.session = connection.exchange(&initialize).0;
            let initialized = connection.request(&initialized(), "notifications/initialized");
            connection.exchange(&initialized);
        }
        connection
    }

    fn request(&self, body: &str, tool: &str) -> Vec<u8> {
        let session = self.session.as_ref().map(|session| format!("Mcp-Session-Id: {session}\r\n")).unwrap_or_default();
        let modern = match self.version >= "2026" {
            true => format!("Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"),
            false => String::new(),
        };
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {}\r\n{session}{modern}\r\n{body}",
            self.address,
            body.len(),
            self.version
        )
        .into_bytes()
    }

    /// Sends a request. Returns the session id of the response, and its body.
    fn exchange(&mut self, request: &[u8]) -> (Option<String>, String) {
        self.stream.get_mut().write_all(request).expect("it listens");
        let (mut length, mut chunked, mut session, mut line) = (0, false, None, String::new());
        loop {
            line.clear();
            self.stream.read_line(&mut line).expect("it answers");
            let (name, value) = line.split_once(':').unwrap_or((line.trim(), ""));
            match name.to_ascii_lowercase().as_str() {
                "" => break,
                "content-length" => length = value.trim().parse().expect("a length"),
                "transfer-encoding" => chunked = true,
                "mcp-session-id" => session = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        let mut body = Vec::new();
        loop {
            if chunked {
                line.clear();
                self.stream.read_line(&mut line).expect("a chunk");
                length = usize::from_str_radix(line.trim(), 16).expect("a length");
            }
            let start = body.len();
            body.resize(start + length, 0);
            self.stream.read_exact(&mut body[start..]).expect("a body");
            if chunked {
                self.stream.read_line(&mut line).expect("the end of a chunk");
            }
            if !chunked || length == 0 {
                return (session, String::from_utf8(body).expect("text"));
            }
        }
    }

    fn turn(&mut self, requests: &[Vec<u8>]) -> Vec<Duration> {
        let timed = requests.iter().map(|request| {
            let sent = Instant::now();
            self.exchange(request);
            sent.elapsed()
        });
        timed.collect()
    }
}

struct Server {
    process: Child,
    connections: Vec<(HttpConnection, Vec<Vec<u8>>)>,
}

impl Server {
    fn start(who: &str, tools: usize, version: &'static str) -> Self {
        let mut process = start(who, "http", tools);
        let mut address = String::new();
        BufReader::new(process.stdout.take().expect("a pipe")).read_line(&mut address).expect("its address");
        let connections = (0..CONNECTIONS).map(|_| {
            let connection = HttpConnection::open(address.trim(), version);
            let request = |id: usize| connection.request(&call(id, TOOLS[id % 3], version), TOOLS[id % 3]);
            let requests = (1..=CALLS / CONNECTIONS).map(request).collect();
            (connection, requests)
        });
        Self { process, connections: connections.collect() }
    }

    fn turn(&mut self) -> (Duration, Vec<Duration>) {
        let begin = Instant::now();
        let times = std::thread::scope(|threads| {
            let running: Vec<_> = self
                .connections
                .iter_mut()
                .map(|(connection, requests)| threads.spawn(move || connection.turn(requests)))
                .collect();
            running.into_iter().flat_map(|thread| thread.join().expect("it does not panic")).collect()
        });
        (begin.elapsed(), times)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
    }
}

pub fn contest(tools: usize, version: &'static str, rounds: usize) -> [ServerTurns; 2] {
    let mut servers = SERVERS.map(|who| Server::start(who, tools, version));
    for tool in TOOLS {
        let [plain, ours] = servers.each_mut().map(|server| {
            let connection = &mut server.connections[0].0;
            let request = connection.request(&call(1, tool, version), tool);
            result(&connection.exchange(&request).1)
        });
        assert_eq!(plain, ours, "{tool}: both answer the same");
    }
    let mut measured = <[ServerTurns; 2]>::default();
    for round in 0..=rounds {
        for turn in 0..2 {
            let who = (round + turn) % 2;
            let (elapsed, times) = servers[who].turn();
            if round > 0 {
                measured[who].turn(elapsed, times);
            }
        }
    }
    measured
}
