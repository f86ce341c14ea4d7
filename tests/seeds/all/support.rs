use std::convert::Infallible;
use std::path::Path;

use seed_tests::injected::{Database, MetricPointRepository, Session};
use seed_tests::services::{AccountService, DiskService, SystemService};
use serde_json::Value;
use tempfile::TempDir;
use tool_builtins::files::Files;
use tool_runtime::inject::InjectError;
use tool_runtime::{Builder, CallOutcome, Dispatcher, ErrorKind, Manifest, Policy, ToolCall, ToolResult};

/// Returns a builder with everything that the linked tools need.
pub fn builder(database: &Database) -> Builder {
    let database = database.clone();
    Dispatcher::builder()
        .service(SystemService)
        .service(DiskService)
        .service(AccountService)
        .value("ping_host", "1.1.1.1".to_owned())
        .provide("session", move |_| {
            let session = database.open();
            async { Ok::<_, Infallible>(session) }
        })
        .finish("session", |session: Session, outcome: CallOutcome| async move {
            if outcome.is_success() {
                session.commit();
            }
            Ok::<_, Infallible>(())
        })
        .provide("repository", |scope| async move {
            Ok::<_, InjectError>(MetricPointRepository(scope.get("session").await?))
        })
}

/// Returns a dispatcher for the linked tools.
pub fn linked() -> Dispatcher {
    builder(&Database::default()).build().unwrap()
}

/// Returns a builder without tools.
pub fn empty() -> Builder {
    Dispatcher::builder().manifest(Manifest::default()).allow_empty()
}

/// Returns the entry of a tool in the manifest of the linked tools.
pub fn entry(name: &str) -> Value {
    let manifest: Value = serde_json::from_str(&Manifest::linked().to_json()).unwrap();
    assert!(manifest[name].is_object(), "there is no tool `{name}`");
    manifest[name].clone()
}

pub async fn call(tools: &Dispatcher, name: &str, arguments: Value) -> ToolResult {
    tools.call(ToolCall::new(name, arguments)).await
}

/// Makes a call that must succeed, and returns its output.
pub async fn output(tools: &Dispatcher, name: &str, arguments: Value) -> String {
    let result = call(tools, name, arguments).await;
    assert!(result.success, "{name}: {}", result.output);
    result.output
}

pub fn kind(result: &ToolResult) -> ErrorKind {
    result.error.as_ref().unwrap_or_else(|| panic!("it succeeded: {}", result.output)).kind
}

/// A directory with the file tools over it.
pub struct Workspace {
    pub directory: TempDir,
    pub tools: Dispatcher,
}

impl Workspace {
    pub fn new() -> Self {
        Self::with(|files| files)
    }

    /// Creates a workspace with other settings of the file tools. No call needs approval.
    pub fn with(settings: impl FnOnce(Files) -> Files) -> Self {
        let directory = TempDir::new().unwrap();
        std::fs::create_dir(directory.path().join("inside")).unwrap();
        let files = settings(Files::new(directory.path().join("inside")).unwrap());
        Self { directory, tools: empty().policy(Policy::Yolo).also(files).build().unwrap() }
    }

    pub fn path(&self, path: &str) -> std::path::PathBuf {
        self.directory.path().join("inside").join(path)
    }

    pub fn put(&self, path: &str, content: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        call(&self.tools, name, arguments).await
    }

    pub async fn output(&self, name: &str, arguments: Value) -> String {
        output(&self.tools, name, arguments).await
    }

    /// Makes a call that must fail, and returns its output.
    pub async fn refused(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert!(!result.success, "{name}: {}", result.output);
        result.output
    }
}
