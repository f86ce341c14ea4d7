//! What a worker says of itself, in the form of NATS's services: PING, INFO and STATS.
//!
//! async-nats has such services as well, but theirs cannot change what they say once they run, and their endpoints
//! lose what is on its way when they stop: neither a registry that changes nor a drain could be had with them.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Shared;
use super::serving::Tool;

/// What is said of a worker, and changes with its tools.
pub(super) struct Presence {
    pub(super) manifest_hash: String,
    pub(super) tools: Vec<Arc<Tool>>,
}

impl Presence {
    /// The answer to a verb; nothing if it is none. Where it would be longer than a message it leaves out endpoints.
    pub(super) fn answer(&self, shared: &Shared, verb: &str) -> Option<Vec<u8>> {
        let answer = match verb {
            "PING" => self.about(shared, "ping_response", Map::new()),
            "INFO" => {
                let endpoints = self.endpoints(shared, |tool| {
                    json!({
                        "name": tool.endpoint(), "subject": tool.subject, "queue_group": shared.space.group(),
                        "metadata": {"tool": tool.name},
                    })
                });
                let mut more = endpoints;
                more.insert("description".into(), shared.description.as_str().into());
                self.about(shared, "info_response", more)
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
                self.about(shared, "stats_response", endpoints)
            }
            _ => return None,
        };
        Some(answer.to_string().into_bytes())
    }

    fn about(&self, shared: &Shared, kind: &str, mut more: Map<String, Value>) -> Value {
        more.insert("type".into(), format!("io.nats.micro.v1.{kind}").into());
        more.insert("name".into(), shared.space.name().into());
        more.insert("id".into(), shared.id.as_str().into());
        more.insert("version".into(), shared.version.as_str().into());
        let metadata = json!({"manifest": self.manifest_hash, "tools": self.tools.len().to_string()});
        more.insert("metadata".into(), metadata);
        Value::Object(more)
    }

    /// As many endpoints as a message holds.
    fn endpoints(&self, shared: &Shared, describe: impl Fn(&Tool) -> Value) -> Map<String, Value> {
        const ROOM: usize = 4_096;
        let mut left = shared.client.max_payload().saturating_sub(ROOM);
        let described = self.tools.iter().map(|tool| describe(tool)).take_while(|endpoint| {
            let length = endpoint.to_string().len() + 1;
            let fits = length <= left;
            left = left.saturating_sub(length);
            fits
        });
        Map::from_iter([("endpoints".to_owned(), described.collect())])
    }
}
