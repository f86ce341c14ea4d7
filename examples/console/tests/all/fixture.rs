use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;

use clap::Parser;
use console::app::App;
use console::machine::MachinePaths;
use console::options::Options;
use console::web::{Access, router};
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinSet;
use tool_agent::{Model, OfflineModel};
use tool_runtime::confirm::{self, Decision};
use tool_runtime::{CancellationToken, ErrorKind, ToolCall, ToolResult};

/// A console with its data, workspace and logs in a temporary directory. Everything else is read from this machine.
pub struct Console {
    pub app: App,
    pub folder: TempDir,
    pub own: SocketAddr,
    /// Listens on the console's own address.
    listener: TcpListener,
}

impl Console {
    pub async fn open() -> Self {
        Self::open_in(tempfile::tempdir().expect("a folder")).await
    }

    pub async fn open_in(folder: TempDir) -> Self {
        Self::open_with(folder, OfflineModel).await
    }

    /// Opens a console with a scripted model.
    pub async fn with_model(model: impl Model) -> Self {
        Self::open_with(tempfile::tempdir().expect("a folder"), model).await
    }

    /// Opens a console that also offers the tools of workers.
    pub async fn with_nats(server: &str) -> Self {
        Self::with_options(&["--nats", server], OfflineModel).await
    }

    /// Opens a console with options of the command line.
    pub async fn with_options(options: &[&str], model: impl Model) -> Self {
        Self::open_as(tempfile::tempdir().expect("a folder"), model, options).await
    }

    async fn open_with(folder: TempDir, model: impl Model) -> Self {
        Self::open_as(folder, model, &[]).await
    }

    pub async fn open_as(folder: TempDir, model: impl Model, options: &[&str]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let own = listener.local_addr().expect("an address");
        let logs = folder.path().join("logs");
        std::fs::create_dir_all(&logs).expect("a folder of logs");
        let places = MachinePaths { logs, ..MachinePaths::default() };
        let data = folder.path().join("data");
        let options = Options { data, ..Options::parse_from(["console", "--port=0"].iter().chain(options)) };
        let app = App::open(&options, places, own, model).await.expect("the console opens");
        Self { app, folder, own, listener }
    }

    /// Serves the console at its own address until the returned set is dropped.
    pub fn serve(&self, access: &Access) -> JoinSet<()> {
        let listener = self.listener.try_clone().expect("the same listener");
        listener.set_nonblocking(true).expect("a listener that does not block");
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
        let service =
            router(&self.app, access, CancellationToken::new()).into_make_service_with_connect_info::<SocketAddr>();
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, service).await.expect("it serves") });
        serving
    }

    /// Calls a tool and approves it if needed.
    pub async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        let agree = confirm::from_fn(|_| async { Decision::Run });
        self.app.dispatcher().call(ToolCall::new(tool, arguments)).confirm(agree).await
    }

    /// Returns the output of a call that must succeed.
    pub async fn answer(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert!(result.success, "{tool}: {}", result.output);
        result.output
    }

    /// Returns the output of a call that must succeed, as JSON.
    pub async fn json(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.answer(tool, arguments).await;
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{tool}: {error}: {answer}"))
    }

    pub fn log(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path("logs").join(name), content).expect("a log is written");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

pub fn kind(result: &ToolResult) -> Option<ErrorKind> {
    result.error.as_ref().map(|error| error.kind)
}
