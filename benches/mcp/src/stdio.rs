//! The stdio transport, with several calls in flight.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use crate::table::ServerTurns;
use crate::wire::{TOOLS, call, initialize, initialized, result};
use crate::{CALLS, SERVERS, start};

const IN_FLIGHT: usize = 8;

struct StdioClient {
    process: Child,
    write: ChildStdin,
    read: BufReader<ChildStdout>,
}

impl StdioClient {
    fn connect(who: &str, tools: usize) -> Self {
        let mut process = start(who, "stdio", tools);
        let write = process.stdin.take().expect("a pipe");
        let read = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut client = Self { process, write, read };
        client.send(&initialize());
        client.receive();
        client.send(&initialized());
        client
    }

    fn send(&mut self, line: &str) {
        self.write.write_all(format!("{line}\n").as_bytes()).expect("it listens");
    }

    fn receive(&mut self) -> String {
        let mut line = String::new();
        self.read.read_line(&mut line).expect("it answers");
        line
    }

    fn turn(&mut self, requests: &[String]) -> (Duration, Vec<Duration>) {
        let begin = Instant::now();
        let mut times = Vec::with_capacity(requests.len());
        for batch in requests.chunks(IN_FLIGHT) {
            let sent = Instant::now();
            self.send(&batch.join("\n"));
            for _ in batch {
                self.receive();
                times.push(sent.elapsed());
            }
        }
        (begin.elapsed(), times)
    }
}

impl Drop for StdioClient {
    fn drop(&mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
    }
}

pub fn contest(tools: usize, rounds: usize) -> [ServerTurns; 2] {
    let version = "2025-11-25";
    let requests: Vec<String> = (1..=CALLS).map(|id| call(id, TOOLS[id % 3], version)).collect();
    let mut clients = SERVERS.map(|who| StdioClient::connect(who, tools));
    for tool in TOOLS {
        let [plain, ours] = clients.each_mut().map(|client| {
            client.send(&call(1, tool, version));
            result(&client.receive())
        });
        assert_eq!(plain, ours, "{tool}: both answer the same");
    }
    let mut measured = <[ServerTurns; 2]>::default();
    for round in 0..=rounds {
        for turn in 0..2 {
            let who = (round + turn) % 2;
            let (elapsed, times) = clients[who].turn(&requests);
            if round > 0 {
                measured[who].turn(elapsed, times);
            }
        }
    }
    measured
}
