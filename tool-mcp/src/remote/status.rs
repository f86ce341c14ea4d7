//! How servers are, for people who look after them.

use serde_json::Value;

use crate::pins::{Held, Warning};

/// How a server is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerStatus {
    /// Its name here.
    pub name: String,
    /// Whether it is connected.
    pub state: ServerState,
    /// The version of the protocol that is spoken, while it is connected.
    pub protocol: Option<String>,
    /// What it calls itself, with its version, while it is connected.
    pub implementation: Option<String>,
    /// How it wants to be used, in its own words, while it is connected. Nobody has checked them.
    pub instructions: Option<String>,
    /// Its tools in the registry, sorted by name; those that are held included.
    pub tools: Vec<ToolStatus>,
    /// What of it is not offered, and why.
    pub problems: Vec<String>,
}

/// Whether a server is connected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerState {
    /// It is being connected.
    Connecting,
    /// Its program runs, but has answered nothing within the
    /// [connect timeout](crate::ServerConfig::connect_timeout). It is waited for.
    Starting,
    /// It is connected.
    Connected,
    /// It is not, for this reason, and is tried again. Of a program that ended it has the last words, too, in which there
    /// may be anything: it is for people, and not for models.
    Away(String),
    /// It was switched off.
    Closed,
}

/// How a tool of a server is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolStatus {
    /// Its name here.
    pub name: String,
    /// Its name at the server.
    pub remote_name: String,
    /// The schema of its arguments, as the server has it. What is offered of it stands in the registry.
    pub input_schema: Value,
    /// What the server says of its behaviour, as it says it.
    pub annotations: Option<Value>,
    /// What in its description is not meant for people.
    pub warnings: Vec<Warning>,
    /// What it says of itself, in one word: two that are equal say the same. By it the tool is
    /// [approved](crate::Servers::approve).
    pub fingerprint: String,
    /// Why it is not offered, if it is not.
    pub held: Option<Held>,
}
