//! Schemas of types that `tool-runtime` serializes. A test validates real values against them.

#![allow(dead_code, reason = "these types exist for their schemas only")]

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The result of a call.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ToolResult {
    /// `true` if the call succeeded.
    success: bool,
    /// The text for the model. Set for failures too.
    output: String,
    /// The error of a failed call.
    error: Option<ToolError>,
    /// Data for the client, not for the model. A pending call has `token` and `expires` (Unix time in milliseconds), a
    /// result from the journal has `replayed`.
    metadata: Map<String, Value>,
    /// The output as JSON, if the call succeeded and the tool has an output schema. Absent if the output was shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    structured: Option<Value>,
}

/// The error of a call.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ToolError {
    /// The kind of error, such as `invalid_arguments`.
    kind: String,
    /// The message for the model.
    message: String,
    /// The invalid arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    arguments: Vec<ArgumentError>,
    /// Delay in milliseconds after which to retry, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u32>,
}

/// One invalid argument.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ArgumentError {
    /// The path of the argument: `order.items[2].sku`. Empty for the arguments as a whole.
    path: String,
    /// The received value, shortened; `null` if it is missing.
    received: Option<String>,
    /// The expected value.
    expected: String,
    /// The kind of error, such as `missing`, `unknown`, `duplicate` or `invalid`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// For an unknown name: the most similar declared names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<String>,
    /// For an invalid value: the violated constraint, such as `range`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    constraint: Option<String>,
}

/// The effect that a call would have.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// A text would change.
    Diff {
        /// The path of the text, such as a file.
        #[serde(default)]
        path: Option<String>,
        /// The current text.
        before: String,
        /// The new text.
        after: String,
    },
    /// A command would run.
    Command(String),
    /// A statement would be executed.
    Statement(String),
    /// A description of another effect.
    Text(String),
}

/// A journal entry.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Entry")]
pub(crate) struct EntrySchema {
    /// The number of the entry. Later entries have higher numbers.
    sequence: u64,
    /// The conversation of the call.
    conversation: Option<String>,
    /// The id of the call.
    id: Option<String>,
    /// The registered name of the tool.
    tool: String,
    /// The repaired arguments, without secrets.
    arguments: Value,
    /// The repairs of the arguments.
    repairs: Option<Value>,
    /// The decision that allowed or refused the call.
    decision: Option<String>,
    /// Unix time in milliseconds.
    at: u64,
    /// The state of the call.
    state: EntryStateSchema,
    /// The result of a finished call.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<ToolResult>,
    /// The duration of a finished call.
    #[serde(skip_serializing_if = "Option::is_none")]
    milliseconds: Option<f64>,
    /// For a finished call: `true` if its handler was started. Otherwise the same call can be made again.
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<bool>,
}

/// The state of a call in the journal.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "State")]
pub(crate) enum EntryStateSchema {
    /// The call did not run, because of the decision.
    Noted,
    /// The call is running.
    Running,
    /// The call started, but its process ended before the call did.
    Unfinished,
    /// The call has finished.
    Finished,
}

/// An event of a call.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Event {
    /// The call.
    call: CallInfo,
    /// Unix time in milliseconds.
    at: u64,
    /// The kind of event.
    #[serde(flatten)]
    kind: EventKindSchema,
}

/// The call of an event.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CallInfo {
    /// The id of the call.
    id: Option<String>,
    /// The registered name of the tool.
    tool: String,
    /// The conversation of the call.
    conversation: Option<String>,
    /// The number of the observed call.
    sequence: u64,
}

/// The kind of an event.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
#[schemars(rename = "What")]
pub(crate) enum EventKindSchema {
    /// The call has started.
    Started {
        /// The arguments, without secrets.
        arguments: Value,
    },
    /// The call waits for approval. This is its last event.
    Pending {
        /// When the approval expires, as Unix time in milliseconds.
        expires: u64,
    },
    /// The tool has reported progress.
    Progress {
        /// The tool's report.
        progress: Value,
    },
    /// The call has finished.
    Finished {
        /// `true` if the call succeeded.
        success: bool,
        /// The kind of error of a failed call.
        kind: Option<String>,
        /// The duration of the call.
        duration_ms: u64,
    },
}
