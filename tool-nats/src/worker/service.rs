//! The NATS service protocol: PING, INFO and STATS.
//!
//! The services of async-nats cannot change their description while they run, and their endpoints lose messages in
//! flight when they stop. They support neither a changing registry nor draining.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::WorkerShared;
use super::subscriptions::ServedTool;

/// The description of a worker, which changes with its tools.
pub(super) struct ServiceInfo {
    pub(super) manifest_hash: String,
    pub(super) tools: Vec<Arc<ServedTool>>,
}

impl ServiceInfo {
    /// Returns the response to a verb, or `None` if the verb is unknown. Omits endpoints that exceed the message size.
    pub(super) fn response(&self, shared: &WorkerShared, verb: &str) -> Option<Vec<u8>> {
        let answer = match verb {
            "PING" => self.base_response(shared, "ping_response", Map::new()),
            "INFO" => {
                let endpoints = self.endpoints(shared, |tool| {
                    json!({
                        "name": tool.endpoint(), "subject": tool.subject, "queue_group": shared.space.group(),
                        "metadata": {"tool": tool.name},
                    })
                });
                let mut fields = endpoints;
                fields.insert("description".into(), shared.description.as_str().into());
                self.base_response(shared, "info_response", fields)
            }
            "STATS" => {
                let endpoints = self.endpoints(shared, |tool| {
                    let (requests, time) = (tool.statistics.requests(), tool.statistics.nanoseconds());
                    json!({
                        "name": tool.endpoint(), "subject": tool.subject, "queue_group": shared.space.group(),
                        "num_requests": requests, "num_errors": tool.statistics.errors(), "last_error": "",
                        "processing_time": time, "average_processing_time": time / requests.max(1),
                    })
                });
                self.base_response(shared, "stats_response", endpoints)
            }
            _ => return None,
        };
        Some(answer.to_string().into_bytes())
    }

    fn base_response(&self, shared: &WorkerShared, kind: &str, mut fields: Map<String, Value>) -> Value {
        fields.insert("type".into(), format!("io.nats.micro.v1.{kind}").into());
        fields.insert("name".into(), shared.space.name().into());
        fields.insert("id".into(), shared.id.as_str().into());
        fields.insert("version".into(), shared.version.as_str().into());
        let metadata = json!({"manifest": self.manifest_hash, "tools": self.tools.len().to_string()});
        fields.insert("metadata".into(), metadata);
        Value::Object(fields)
    }

    /// Describes as many endpoints as fit into a message.
    fn endpoints(&self, shared: &WorkerShared, describe: impl Fn(&ServedTool) -> Value) -> Map<String, Value> {
        const RESERVED_SPACE: usize = 4_096;
        let mut left = shared.client.max_payload().saturating_sub(RESERVED_SPACE);
        let described = self.tools.iter().map(|tool| describe(tool)).take_while(|endpoint| {
            let length = endpoint.to_string().len() + 1;
            let fits = length <= left;
            left = left.saturating_sub(length);
            fits
        });
        Map::from_iter([("endpoints".to_owned(), described.collect())])
    }
}

/// Counters of one tool.
#[derive(Debug, Default)]
pub(super) struct ToolStatistics {
    requests: AtomicU64,
    errors: AtomicU64,
    nanoseconds: AtomicU64,
}

impl ToolStatistics {
    pub(super) fn count(&self, success: bool, took: Duration) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.errors.fetch_add(u64::from(!success), Ordering::Relaxed);
        self.nanoseconds.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    pub(super) fn errors(&self) -> u64 {
        self.errors.load(Ordering::Relaxed)
    }

    pub(super) fn nanoseconds(&self) -> u64 {
        self.nanoseconds.load(Ordering::Relaxed)
    }
}
