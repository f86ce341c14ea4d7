//! The status of remote servers, for operators.

use serde_json::Value;

use crate::pins::{HoldReason, ToolWarning};

/// The status of a server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerStatus {
    /// The local name.
    pub name: String,
    /// The state of the connection.
    pub state: ServerState,
    /// The protocol version, while connected.
    pub protocol: Option<String>,
    /// The name and version that the server reports, while connected.
    pub implementation: Option<String>,
    /// The server's instructions, while connected. They are unverified.
    pub instructions: Option<String>,
    /// The registered tools, sorted by name, including held ones.
    pub tools: Vec<ToolStatus>,
    /// The problems of the server and its tools.
    pub problems: Vec<String>,
}

/// The state of a server's connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerState {
    /// A connection attempt is in progress.
    Connecting,
    /// The program runs, but has not responded within the
    /// [connect timeout](crate::ServerConfig::connect_timeout). It may still connect.
    Starting,
    /// Connected.
    Connected,
    /// Not connected, for this reason; the connection is retried. For a program that ended, the reason includes the last
    /// lines of its standard error, which may contain anything: show it to users, not to models.
    Unavailable(String),
    /// Closed by the application.
    Closed,
}

/// The status of a remote tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolStatus {
    /// The local name.
    pub name: String,
    /// The server's name for the tool.
    pub remote_name: String,
    /// The input schema as the server sent it. The registry has the converted one.
    pub input_schema: Value,
    /// The annotations as the server sent them.
    pub annotations: Option<Value>,
    /// Suspicious parts of the definition.
    pub warnings: Vec<ToolWarning>,
    /// A hash of the definition, to pass to [`approve`](crate::RemoteServers::approve).
    pub fingerprint: String,
    /// The reason why the tool is held, if it is.
    pub held: Option<HoldReason>,
}
