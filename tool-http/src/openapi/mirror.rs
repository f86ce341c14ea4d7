//! The JSON forms of what `tool-runtime` writes, as types that have a schema. A test holds them against real values.

#![allow(dead_code, reason = "they are never made: they are for their schemas")]

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The answer to a call.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ToolResult {
    /// Whether the tool ran and everything around it went well.
    success: bool,
    /// What a model reads, in failure too.
    output: String,
    /// What went wrong.
    error: Option<ToolError>,
    /// For an interface, not for a model. Of a call that waits for consent: its `token`, and when it `expires` in seconds
    /// since 1970. Of one that was answered from the record: `replayed`.
    metadata: Map<String, Value>,
}

/// What went wrong with a call.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ToolError {
    /// What kind of failure it is, such as `invalid_arguments`.
    kind: String,
    /// In words, as a model reads it.
    message: String,
    /// Each argument that is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    arguments: Vec<ArgumentError>,
    /// After how many milliseconds another try may go well, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u32>,
}

/// One argument that is wrong.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ArgumentError {
    /// Where: `order.items[2].sku`. Empty for the arguments as a whole.
    path: String,
    /// What came, shortened; nothing where something is missing.
    received: Option<String>,
    /// What was expected.
    expected: String,
    /// The kind of error, such as `missing`, `unknown`, `duplicate` or `invalid`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// Of an unknown name: the declared names that are most like it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<String>,
    /// Of an invalid value: the constraint that it breaks, such as `range`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    constraint: Option<String>,
}

/// What a call would do.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// A text would change.
    Diff {
        /// What holds the text, such as a file.
        #[serde(default)]
        path: Option<String>,
        /// The text as it is.
        before: String,
        /// The text as it would be.
        after: String,
    },
    /// A command would run.
    Command(String),
    /// A statement would be executed.
    Statement(String),
    /// Something else, in words.
    Text(String),
}

/// One call on record.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Entry {
    /// Its place: later entries have higher numbers.
    sequence: u64,
    /// The conversation of the call.
    conversation: Option<String>,
    /// The id of the call.
    id: Option<String>,
    /// The tool, by the name under which it was registered.
    tool: String,
    /// The arguments, mended and without secrets.
    arguments: Value,
    /// What was mended.
    repairs: Option<Value>,
    /// Who or what let the call run, or kept it from running.
    decision: Option<String>,
    /// When, in milliseconds since 1970.
    at: u64,
    /// What came of it.
    state: State,
    /// What it answered, if it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<ToolResult>,
    /// How long it took, if it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    milliseconds: Option<f64>,
    /// Whether its handler was entered, if it ended. If not, the same call can begin again.
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<bool>,
}

/// What came of a call.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// It did not run; the decision says why.
    Noted,
    /// It is running.
    Running,
    /// It started, and whoever ran it is gone.
    Unfinished,
    /// It ended.
    Finished,
}

/// Something that happened to a call: the data of an event.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Event {
    /// The call.
    call: CallInfo,
    /// When, in milliseconds since 1970.
    at: u64,
    /// What happened.
    #[serde(flatten)]
    what: What,
}

/// Which call it is.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CallInfo {
    /// The id of the call.
    id: Option<String>,
    /// The tool, by the name under which it was registered.
    tool: String,
    /// The conversation of the call.
    conversation: Option<String>,
    /// Counts the calls that are watched.
    sequence: u64,
}

/// What happened.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum What {
    /// The call begins.
    Started {
        /// The arguments, without their secrets.
        arguments: Value,
    },
    /// The call waits for somebody's consent, and this is its last event.
    Pending {
        /// When it is too late to agree, in milliseconds since 1970.
        expires: u64,
    },
    /// The tool says how far it is.
    Progress {
        /// In its own form.
        progress: Value,
    },
    /// The call has ended.
    Finished {
        /// Whether it went well.
        success: bool,
        /// What kind of failure it was, if one.
        kind: Option<String>,
        /// How long it took.
        duration_ms: u64,
    },
}
