//! Discovery of workers and their manifests.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_nats::Client;
use bytes::Bytes;
use futures_util::StreamExt;
use serde::Deserialize;
use tokio::time::{Instant, timeout, timeout_at};
use tool_runtime::{Manifest, ToolDefinition};

use crate::wire::{PART, header};
use crate::{NatsError, Space, fingerprint};

/// The time to wait for another response if as many workers as before have responded.
const QUIET_PERIOD: Duration = Duration::from_millis(250);

/// The time to wait if some are missing, which may be busy.
const MISSING_PERIOD: Duration = Duration::from_secs(1);

/// The maximum duration of a discovery.
const MAX_DURATION: Duration = Duration::from_secs(3);

/// The timeout for a part of a manifest.
const PART_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum length of a manifest.
const MAX_MANIFEST: usize = 256 << 20;

/// The announcement of a worker.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct WorkerPresence {
    pub(super) id: String,
    pub(super) version: String,
    #[serde(default)]
    pub(super) metadata: HashMap<String, String>,
}

impl WorkerPresence {
    pub(super) fn parse(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    /// Returns the hash of the manifest, or `None` for another kind of service.
    pub(super) fn manifest(&self) -> Option<&str> {
        let hash = self.metadata.get("manifest")?;
        (hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(hash)
    }
}

/// Pings all workers, of which `known` were known. The server replies at once if there are none.
pub(super) async fn ping(client: &Client, space: &Space, known: usize) -> Result<Vec<WorkerPresence>, NatsError> {
    let inbox = client.new_inbox();
    let mut answers = client.subscribe(inbox.clone()).await.map_err(NatsError::nats("subscribe to presence"))?;
    let subject = format!("$SRV.PING.{}", space.name());
    client.publish_with_reply(subject, inbox, Bytes::new()).await.map_err(NatsError::nats("ping the workers"))?;
    let latest = Instant::now() + MAX_DURATION;
    let mut present: Vec<WorkerPresence> = Vec::new();
    loop {
        let quiet_period = match present.len() {
            0 => MAX_DURATION,
            there if there < known => MISSING_PERIOD,
            _ => QUIET_PERIOD,
        };
        match timeout_at(latest.min(Instant::now() + quiet_period), answers.next()).await {
            Ok(Some(message)) if message.status.is_none() => present.extend(WorkerPresence::parse(&message.payload)),
            _ => return Ok(present),
        }
    }
}

/// The tools of a manifest, each with its definition and fingerprint.
pub(super) type ManifestTools = Arc<Vec<(String, Arc<ToolDefinition>, String)>>;

/// Fetches a manifest in parts from any worker that has it.
pub(super) async fn fetch(client: &Client, space: &Space, hash: &str) -> Result<ManifestTools, NatsError> {
    let mut text = Vec::new();
    let mut number = 0;
    loop {
        let request = client.request(space.manifest(hash), number.to_string().into());
        let message = timeout(PART_TIMEOUT, request)
            .await
            .map_err(NatsError::nats("wait for a manifest"))?
            .map_err(NatsError::nats("request a manifest"))?;
        let part = header(message.headers.as_ref(), PART);
        let count = part.and_then(|part| part.split_once('/')).and_then(|(_, count)| count.parse::<usize>().ok());
        text.extend_from_slice(&message.payload);
        number += 1;
        if text.len() > MAX_MANIFEST {
            return Err(invalid("it exceeds the size limit"));
        }
        if number >= count.ok_or_else(|| invalid("a part has no valid number"))? {
            break;
        }
    }
    let text = String::from_utf8(text).map_err(NatsError::nats("read a manifest"))?;
    // Any subscriber of the subject may have replied: only the hash proves that this is the announced manifest.
    if fingerprint::text(&text) != hash {
        return Err(invalid("its hash is wrong"));
    }
    let manifest = Manifest::from_json(&text).map_err(NatsError::nats("read a manifest"))?;
    let tools = manifest
        .iter()
        .map(|(name, definition)| (name.to_owned(), Arc::new(definition.clone()), fingerprint::definition(definition)));
    Ok(Arc::new(tools.collect()))
}

fn invalid(why: &'static str) -> NatsError {
    NatsError::Nats { doing: "read a manifest", source: why.into() }
}
