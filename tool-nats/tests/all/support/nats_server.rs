//! A `nats-server` for one test.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tool_nats::async_nats;

/// A server with a store of its own, on a port of its own. Dropped, it is killed.
pub struct Server {
    port: u16,
    process: std::process::Child,
    configuration: Option<PathBuf>,
    pub folder: TempDir,
}

impl Server {
    /// Starts one, if there is one to start.
    pub fn start() -> Option<Self> {
        Self::configured(|_| None)
    }

    /// Starts one with a configuration that may stand in its folder, and says then where its store is.
    pub fn configured(configure: impl FnOnce(&Path) -> Option<PathBuf>) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        if Command::new("nats-server").arg("--version").stdout(Stdio::null()).status().is_err() {
            assert!(std::env::var("NATS_SERVER").as_deref() != Ok("required"), "there is no nats-server in the path");
            eprintln!("skipped: there is no nats-server in the path");
            return None;
        }
        let configuration = configure(folder.path());
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = run(port, folder.path(), configuration.as_deref());
        let server = Self { port, process, configuration, folder };
        server.wait();
        Some(server)
    }

    pub fn url(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Kills it and starts it again, with what it has stored.
    pub fn restart(&mut self) {
        self.stop();
        self.start_again();
    }

    /// Starts it again after a stop, with what it has stored.
    pub fn start_again(&mut self) {
        self.process = run(self.port, self.folder.path(), self.configuration.as_deref());
        self.wait();
    }

    /// Kills it.
    pub fn stop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn wait(&self) {
        for _ in 0..600 {
            if TcpStream::connect(self.url()).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let log = std::fs::read_to_string(self.folder.path().join("log"));
        panic!("nats-server does not start: {log:?}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run(port: u16, folder: &Path, configuration: Option<&Path>) -> std::process::Child {
    let mut command = Command::new("nats-server");
    match configuration {
        Some(configuration) => command.arg("-c").arg(configuration),
        None => command.args(["-js", "-sd"]).arg(folder.join("store")),
    };
    command.args(["-a", "127.0.0.1", "-p", &port.to_string()]);
    command.arg("-l").arg(folder.join("log")).current_dir(folder).spawn().unwrap()
}

/// Makes an authority and a server's certificate in a folder, as the example does.
pub fn certificates(folder: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/cluster/certificates");
    assert!(Command::new(script).arg(folder).status().unwrap().success(), "openssl is needed");
}

/// A connection that comes back quickly.
pub async fn connect(url: &str) -> async_nats::Client {
    let options = async_nats::ConnectOptions::new().reconnect_delay_callback(|_| Duration::from_millis(50));
    options.connect(url).await.unwrap()
}
