//! The server and the workers, in separate processes.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use tool_nats::{async_nats, serve};
use tool_runtime::{Dispatcher, tool};

use crate::Anything;

/// A port that is unused on most machines.
const PORT: &str = "42229";

pub fn url() -> String {
    format!("127.0.0.1:{PORT}")
}

/// Child processes, which are killed on drop.
pub struct Processes(Vec<Child>);

impl Processes {
    pub async fn start(workers: usize, mode: &str) -> Result<Self, Anything> {
        let server = Command::new("nats-server").args(["-a", "127.0.0.1", "-p", PORT]).stderr(Stdio::null()).spawn()?;
        let mut processes = Self(vec![server]);
        let began = Instant::now();
        let client = loop {
            match async_nats::connect(url()).await {
                Ok(client) => break client,
                Err(error) if began.elapsed() > Duration::from_secs(10) => return Err(error.into()),
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        };
        let mut here = client.subscribe("bench.ready").await?;
        client.flush().await?;
        for _ in 0..workers {
            let worker = Command::new(std::env::current_exe()?).arg(mode).stdin(Stdio::piped()).spawn()?;
            processes.0.push(worker);
            here.next().await.ok_or("the connection is gone")?;
        }
        Ok(processes)
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for process in &mut self.0 {
            // Fails if the process has already ended.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Add two numbers.
#[tool(name = "bench.add")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Use a processor for some time.
#[tool(name = "bench.burn")]
fn burn(microseconds: u64) {
    let started = Instant::now();
    while started.elapsed() < Duration::from_micros(microseconds) {
        std::hint::spin_loop();
    }
}

/// Runs a worker, and next to it a bare responder.
pub async fn serve_until_killed() -> Result<(), Anything> {
    std::thread::spawn(|| {
        // The end of standard input means that the parent is gone.
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    let _worker = serve(async_nats::connect(url()).await?, Dispatcher::builder().build()?).await?;
    let bare = async_nats::connect(url()).await?;
    let mut requests = bare.queue_subscribe("bare.add", "bare".to_owned()).await?;
    bare.publish("bench.ready", "".into()).await?;
    while let Some(request) = requests.next().await {
        if let Some(reply) = request.reply {
            bare.publish(reply, "42".into()).await?;
        }
    }
    Ok(())
}
