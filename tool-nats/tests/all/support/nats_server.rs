//! A `nats-server` for one test.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tool_nats::async_nats;

/// A server with its own store and port. Dropping it kills the process.
pub struct Server {
    port: u16,
    process: std::process::Child,
    configuration: Option<PathBuf>,
    pub folder: TempDir,
}

impl Server {
    /// Starts a server, if one is installed.
    pub fn start() -> Option<Self> {
        Self::configured(|_| None)
    }

    /// Starts a server with a configuration, which may be written to its directory and must then set the store.
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

    /// Kills the server and starts it again with the same store.
    pub fn restart(&mut self) {
        self.stop();
        self.start_again();
    }

    /// Starts the server again after `stop`, with the same store.
    pub fn start_again(&mut self) {
        self.process = run(self.port, self.folder.path(), self.configuration.as_deref());
        self.wait();
    }

    /// Kills the server.
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

/// Creates a certificate authority and a server certificate in a directory, as the example does.
pub fn certificates(folder: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/cluster/certificates");
    assert!(Command::new(script).arg(folder).status().unwrap().success(), "openssl is needed");
}

/// Connects with a short reconnect delay.
pub async fn connect(url: &str) -> async_nats::Client {
    let options = async_nats::ConnectOptions::new().reconnect_delay_callback(|_| Duration::from_millis(50));
    options.connect(url).await.unwrap()
}
